"""Uploads a video, has an edit of it made, and downloads the result, by a generated client: ADDRESS SOURCE OUTPUT."""
import base64, sys, time
import reel_client
from reel_client.api.files_api import FilesApi
from reel_client.api.jobs_api import JobsApi
from reel_client.api.uploads_api import UploadsApi
from reel_client.models import Clip, Edit, JobRequest, JobRequestOptions

address, source, output = sys.argv[1:]
client = reel_client.ApiClient(reel_client.Configuration(host=address))
jobs, uploads = JobsApi(client), UploadsApi(client)
data = open(source, "rb").read()
name = base64.b64encode(b"film.mp4").decode()
begun = uploads.begin_upload_with_http_info(
    tus_resumable="1.0.0", upload_length=str(len(data)), upload_metadata=f"filename {name}", body=data[:1000])
upload = begun.headers["Location"].rsplit("/", 1)[1]
uploads.continue_upload(upload, tus_resumable="1.0.0", upload_offset="1000", body=data[1000:])
clips = [Clip(source=f"upload:{upload}", play="reverse")]
job = jobs.submit_job(JobRequest(edit=Edit(clips=clips), options=JobRequestOptions(lossless=True), name="generated"))
while job.state not in ("done", "failed", "cancelled"):
    time.sleep(0.1)
    job = jobs.get_job(job.id)
assert job.state == "done", job
with open(output, "wb") as file:
    file.write(FilesApi(client).download_output(job.id))
print(job.name, job.frames)
