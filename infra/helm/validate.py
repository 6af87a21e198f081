"""Validates rendered manifests against the schemas of one version of Kubernetes: validate.py VERSION FILE…

Prints one line for each manifest that does not follow its schema, and the kinds that Kubernetes itself does not have.
Needs kubernetes-validate, which carries the schemas.
"""

import sys

import kubernetes_validate
import yaml

version, *files = sys.argv[1:]
failed = False
foreign = set()
for file in files:
    with open(file, encoding='utf-8') as text:
        for manifest in yaml.safe_load_all(text):
            if manifest is None:
                continue
            try:
                kubernetes_validate.validate(manifest, version, strict=True)
            except kubernetes_validate.SchemaNotFoundError:
                foreign.add(f'{manifest["apiVersion"]} {manifest["kind"]}')
            except kubernetes_validate.ValidationError as error:
                failed = True
                print(f'{file}: {manifest["kind"]} {manifest["metadata"]["name"]}: {error.path}: {error.message[:500]}')
print('\n'.join(sorted(foreign)))
sys.exit(failed)
