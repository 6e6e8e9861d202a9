"""A TCP proxy that delays the watches of one resource, as a busy network does."""

import asyncio
import re
import threading


class LaggingProxy:
    """Forwards everything; delays responses to watches whose path matches `path` by `lag_s`. Plain HTTP/1.1 only."""

    def __init__(self, host, port, path, lag_s):
        self._target, self._lag_s = (host, port), lag_s
        self.delayed_watches = 0  # of which some data has been delayed
        self._watch = re.compile(rb"^GET " + path.encode() + rb"\?[^ ]*watch=true", re.MULTILINE)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait()

    def _run(self):
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _serve(self, reader, writer):
        connection = {"lags": False, "counted": False}
        target_reader, target_writer = await asyncio.open_connection(*self._target)
        up = asyncio.ensure_future(self._forward(reader, target_writer, connection))
        down = asyncio.ensure_future(self._return(target_reader, writer, connection))
        await asyncio.gather(up, down, return_exceptions=True)

    async def _forward(self, reader, writer, connection):
        try:
            while data := await reader.read(65536):
                # client-go sends the whole head of a request in one write.
                connection["lags"] = connection["lags"] or bool(self._watch.search(data))
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()

    async def _return(self, reader, writer, connection):
        """Queues delayed data with the time at which it is due, so that delays do not add up."""
        queue = asyncio.Queue()

        async def send():
            while True:
                due, data = await queue.get()
                await asyncio.sleep(max(0.0, due - self._loop.time()))
                if not data:
                    writer.close()
                    return
                writer.write(data)
                await writer.drain()

        sender = asyncio.ensure_future(send())
        data = b"."
        while data:
            try:
                data = await reader.read(65536)
            except OSError:
                data = b""
            if data and connection["lags"] and not connection["counted"]:
                connection["counted"] = True
                self.delayed_watches += 1
            queue.put_nowait((self._loop.time() + (self._lag_s if connection["lags"] else 0.0), data))
        await sender

    def close(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
