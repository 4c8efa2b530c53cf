"""The tenants file, in few words."""
import json


def rule(name, **claims):
    return {"authorization-rule": {"name": name, "conditions": [claims]}}


def role(name, **permissions):
    return {"role": {"name": name, "permissions": {k.replace("_", "-"): v for k, v in permissions.items()}}}


def tenant(name, mappings, anonymous=False, projects=("org/p", "org/q", "foo")):
    return {"tenant": {"name": name, "anonymous-read-access": anonymous, "role-mappings": mappings, "projects": list(projects)}}


def api_root(mappings, anonymous=False):
    return {"api-root": {"anonymous-read-access": anonymous, "role-mappings": mappings}}


def document(*items):
    """YAML: a list, an item a line."""
    return "".join(f"- {json.dumps(item)}\n" for item in items)
