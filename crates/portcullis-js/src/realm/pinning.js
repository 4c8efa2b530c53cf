// `pinDigests(object, verified)`: gives the images of an object the digests that were verified, so that
// what is pulled later is what was judged. Runs once per realm, after the prelude and before hardening.
(function () {
  'use strict';
  const Fault = Error;
  const { hasOwn } = Object;

  function fail(image, why) {
    throw new Fault('pinDigests: ' + String(image).slice(0, 255) + ' ' + why);
  }

  // The one digest that all signatures of an image are for.
  function digestOf(image, verified) {
    if (typeof image !== 'string' || !hasOwn(verified, image)) fail(image, 'was not verified');
    let digest;
    for (const signature of verified[image]) {
      const signed = signature?.critical?.image?.['docker-manifest-digest'];
      if (typeof signed !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(signed)) fail(image, 'has a signature without a digest');
      if (digest !== undefined && signed !== digest) fail(image, 'has signatures for different digests');
      digest = signed;
    }
    if (digest === undefined) fail(image, 'has no signature');
    return digest;
  }

  // The same image by its digest. The tag stays, for people.
  function pinned(image, verified) {
    const digest = digestOf(image, verified);
    const at = image.indexOf('@');
    if (at < 0) return image + '@' + digest;
    if (image.slice(at + 1) !== digest) fail(image, 'was verified as ' + digest);
    return image;
  }

  // Every place of an image: an object and its key. Wherever a pod can be, so that none is forgotten.
  function places(object) {
    const found = [];
    const spec = object?.spec;
    const pods = [spec, spec?.template?.spec, spec?.jobTemplate?.spec?.template?.spec, object?.template?.spec];
    for (const pod of pods) {
      for (const list of ['containers', 'initContainers', 'ephemeralContainers']) {
        for (const container of pod?.[list] ?? []) found.push([container, 'image']);
      }
      for (const volume of pod?.volumes ?? []) {
        if (volume?.image?.reference !== undefined) found.push([volume.image, 'reference']);
      }
    }
    // What containerd is asked, as ctrdac passes it on.
    if (object?.container?.image !== undefined) found.push([object.container, 'image']);
    return found;
  }

  globalThis.pinDigests = ({
    pinDigests(object, verified) {
      if (verified === null || typeof verified !== 'object') throw new TypeError('pinDigests: give it the object and what cosignVerify gave');
      const found = places(object);
      if (found.length === 0) throw new Fault('pinDigests: there is no image in the object');
      // All are known before the first is written.
      const changes = found.map(([holder, key]) => [holder, key, pinned(holder?.[key], verified)]);
      for (const [holder, key, image] of changes) if (holder[key] !== image) holder[key] = image;
    },
  }).pinDigests;
})
