// Returns text or calls deny() to deny; true allows. Change the image below, and run it again.
for (const { name, image } of object.spec.containers ?? []) {
  console.log(`${name} runs ${image}`);
  if (!/:(?!latest$)[\w.-]+$|@sha256:[0-9a-f]{64}$/.test(image)) {
    deny(`container ${name}: name a version of ${image}`);
  }
}
