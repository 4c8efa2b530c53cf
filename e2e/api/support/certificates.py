"""Authorities and certificates, made with openssl."""
import os
import subprocess


def openssl(folder, *arguments):
    done = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"openssl {arguments[0]}: {done.stderr}"


class Authority:
    """NAME.crt and NAME.key in a folder; what it signs is put there too."""

    def __init__(self, folder, name):
        os.makedirs(folder, exist_ok=True)
        self.folder, self.name = folder, name
        openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.crt",
                "-subj", f"/CN={name}", "-days", "2", "-addext", "keyUsage=critical,keyCertSign")

    def path(self, file):
        return os.path.join(self.folder, file)

    @property
    def certificate(self):
        return self.path(f"{self.name}.crt")

    def sign(self, name, subject, purpose, alternative=None, days=2):
        """(certificate, key) with this subject; `days` below 0 make one that has ended."""
        extensions = [f"extendedKeyUsage={purpose}", "basicConstraints=critical,CA:FALSE"] + ([f"subjectAltName={alternative}"] if alternative else [])
        with open(self.path(f"{name}.ext"), "w") as f:
            f.write("\n".join(extensions) + "\n")
        openssl(self.folder, "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr",
                "-utf8", "-subj", subject)
        if days > 0:
            openssl(self.folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{self.name}.crt", "-CAkey", f"{self.name}.key", "-CAcreateserial",
                    "-out", f"{name}.crt", "-extfile", f"{name}.ext", "-days", str(days))
        else:
            self._sign_for_the_past(name)
        return self.path(f"{name}.crt"), self.path(f"{name}.key")

    def _sign_for_the_past(self, name):
        """`openssl ca` alone sets both ends of the validity in every version that is in use."""
        for file, text in {"index.txt": "", "index.txt.attr": "", "serial": "1000\n"}.items():
            with open(self.path(file), "w") as f:
                f.write(text)
        with open(self.path("ca.cnf"), "w") as f:
            f.write("[ca]\ndefault_ca = c\n[c]\ndatabase = index.txt\nserial = serial\nnew_certs_dir = .\ndefault_md = sha256\npolicy = p\n"
                    "[p]\ncommonName = supplied\norganizationName = optional\n")
        openssl(self.folder, "ca", "-config", "ca.cnf", "-batch", "-notext", "-in", f"{name}.csr", "-out", f"{name}.crt", "-cert", f"{self.name}.crt",
                "-keyfile", f"{self.name}.key", "-extfile", f"{name}.ext", "-startdate", "20200101000000Z", "-enddate", "20200102000000Z")
