"""What the makers of in-toto and DSSE make of a seal: run by the interpreter of the readers' environment.

`python official_seal.py FOLDER TEST_RESULT VERDICTS KEY` says what the result holds, or ends in an error.
"""

import json
import sys
from pathlib import Path

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from google.protobuf.json_format import ParseDict
from in_toto_attestation.predicates.test_result.v0 import test_result_pb2
from in_toto_attestation.v1 import resource_descriptor_pb2, statement_pb2
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

folder, test_result, verdicts, public = Path(sys.argv[1]), *sys.argv[2:]
public_key = load_pem_public_key((folder / public).read_bytes())
for name in (test_result, verdicts):
    values = json.loads((folder / name).read_bytes())
    key = SSlibKey.from_crypto(public_key, keyid=values["signatures"][0]["keyid"])
    envelope = Envelope.from_dict(values)
    envelope.verify([key], 1)
    said = json.loads(envelope.payload)
    Statement.copy_from_pb(ParseDict(said, statement_pb2.Statement())).validate()
    if name == test_result:
        found = ParseDict(said["predicate"], test_result_pb2.TestResult())
        for descriptor in said["predicate"]["configuration"]:
            pb = ParseDict(descriptor, resource_descriptor_pb2.ResourceDescriptor())
            ResourceDescriptor.copy_from_pb(pb).validate()
        lists = (found.passed_tests, found.warned_tests, found.failed_tests)
        print(said["predicate"]["result"], *map(len, lists))
