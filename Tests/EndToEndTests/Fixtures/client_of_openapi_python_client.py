"""Uploads a video, has an edit of it made, and downloads the result, by a generated client: ADDRESS SOURCE OUTPUT."""
import base64, sys, time
from reel_client import Client
from reel_client.api.files import download_output
from reel_client.api.jobs import get_job, submit_job
from reel_client.api.uploads import begin_upload, continue_upload
from reel_client.models import Clip, ClipPlay, Edit, JobRequest, JobRequestOptions
from reel_client.types import File
from io import BytesIO

address, source, output = sys.argv[1:]
client = Client(base_url=address)
data = open(source, "rb").read()
name = base64.b64encode(b"film.mp4").decode()
begun = begin_upload.sync_detailed(
    client=client, tus_resumable="1.0.0", upload_length=str(len(data)), upload_metadata=f"filename {name}")
assert begun.status_code == 201, begun.content
upload = begun.headers["location"].rsplit("/", 1)[1]
sent = continue_upload.sync_detailed(
    upload, client=client, body=File(payload=BytesIO(data)), tus_resumable="1.0.0", upload_offset="0")
assert sent.status_code == 204, sent.content
clips = [Clip(source=f"upload:{upload}", play=ClipPlay.REVERSE)]
request = JobRequest(edit=Edit(clips=clips), options=JobRequestOptions(lossless=True), name="generated")
made = submit_job.sync_detailed(client=client, body=request)
assert made.status_code == 201, made.content
job = made.parsed
while job.state not in ("done", "failed", "cancelled"):
    time.sleep(0.1)
    job = get_job.sync(job.id, client=client)
assert job.state == "done", job
result = download_output.sync_detailed(job.id, client=client)
assert result.status_code == 200
open(output, "wb").write(result.content)
print(job.name, job.frames)
