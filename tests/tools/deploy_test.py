"""What is shipped is made from known bytes.

    python3 tests/tools/deploy_test.py
"""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGEST = re.compile(r"^[a-z0-9./:-]+@sha256:[0-9a-f]{64}$")


class Images(unittest.TestCase):
    def test_every_base_is_named_by_digest(self):
        for file in sorted((ROOT / "deploy").glob("Dockerfile*")):
            text = file.read_text(encoding="utf-8")
            arguments = dict(re.findall(r"^ARG (\w+)=(\S+)$", text, re.MULTILINE))
            stages = set(re.findall(r"^FROM \S+ AS (\w+)$", text, re.MULTILINE))
            bases = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
            self.assertGreater(len(bases), 1, file)
            for base in bases:
                image = re.sub(r"\$\{(\w+)\}", lambda match: arguments[match[1]], base)
                if image not in stages:
                    self.assertRegex(image, DIGEST, file.name)


class Service(unittest.TestCase):
    UNIT = ROOT / "deploy/alate.service"

    def settings(self):
        """Section and key of each line, with its values in order."""
        found, section = {}, None
        for line in self.UNIT.read_text(encoding="utf-8").splitlines():
            if match := re.fullmatch(r"\[(\w+)\]", line):
                section = match[1]
            elif line and not line.startswith("#"):
                match = re.fullmatch(r"(\w+)=(.*)", line)
                self.assertTrue(match and section, line)
                found.setdefault((section, match[1]), []).append(match[2])
        return found

    def test_it_may_do_little(self):
        settings = self.settings()
        for key, wanted in {"DynamicUser": "yes", "NoNewPrivileges": "yes", "CapabilityBoundingSet": "", "ProtectSystem": "strict",
                            "ProtectHome": "yes", "PrivateDevices": "yes", "MemoryDenyWriteExecute": "yes",
                            "IPAddressDeny": "any", "RestrictNamespaces": "yes"}.items():
            self.assertEqual(settings[("Service", key)], [wanted], key)
        self.assertNotIn("api_key", self.UNIT.read_text(encoding="utf-8"))
        self.assertEqual(settings[("Install", "WantedBy")], ["multi-user.target"])

    def test_it_starts_what_is_installed_and_waits_for_it_to_end(self):
        settings = self.settings()
        self.assertTrue(settings[("Service", "ExecStart")][0].startswith("/usr/local/bin/alate serve"))
        # Longer than the server's shutdown_timeout, 30 s.
        self.assertGreater(int(settings[("Service", "TimeoutStopSec")][0]), 30)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not here")
    def test_systemd_takes_it(self):
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder) / self.UNIT.name
            text = self.UNIT.read_text(encoding="utf-8")
            unit.write_text(text.replace("ExecStart=/usr/local/bin/alate", "ExecStart=/bin/true"), encoding="utf-8")
            verified = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False)
            self.assertEqual((verified.returncode, verified.stdout + verified.stderr), (0, ""))
            # 15: an exposure of 1.5 on a scale to 10.
            rated = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=15", unit],
                                   capture_output=True, text=True, check=False)
            self.assertEqual(rated.returncode, 0, rated.stdout[-500:] + rated.stderr)


class PythonPackages(unittest.TestCase):
    def test_test_clients_are_named_by_version_and_hash(self):
        for file in sorted(ROOT.glob("tests/**/requirements*.txt")):
            lines = file.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
            packages = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
            self.assertTrue(packages, file)
            for package in packages:
                self.assertRegex(package, r"^[\w.-]+(\[[\w,-]+\])?==\S+", file.name)
                self.assertIn("--hash=sha256:", package, file.name)


if __name__ == "__main__":
    unittest.main()
