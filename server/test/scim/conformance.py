"""Runs scim2-tester against a SCIM service, and prints what it found as JSON.

python conformance.py URL KEY
"""

import json
import sys

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server

url, key = sys.argv[1:]
client = Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=300)
scim = SyncSCIMClient(client)
scim.discover()
results = [
    {"status": one.status.name, "title": one.title, "reason": one.reason, "resource": one.resource_type}
    for one in check_server(scim)
]
json.dump(results, sys.stdout)
