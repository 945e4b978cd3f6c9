"""What schemathesis cannot know of the server: pieces of uploads are bytes as they are."""

import schemathesis


@schemathesis.serializer("application/offset+octet-stream")
def piece(context, value):
    return value if isinstance(value, bytes) else str(value).encode()
