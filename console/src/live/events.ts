import { EventSourceParserStream } from 'eventsource-parser/stream'

export type StreamEvent = { id?: string | undefined; event?: string | undefined; data: string }

/** The service sends something at least every 15 s; a connection that is silent for longer is gone, whatever the browser thinks. */
const silentMs = 45_000

/** The events of an answer, until it ends. @throws when it breaks, or is silent for too long */
export async function* eventsOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<StreamEvent> {
  let lastAt = Date.now()
  const noted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      lastAt = Date.now()
      controller.enqueue(chunk)
    },
  })
  const parsed = body.pipeThrough(noted).pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  const reader = parsed.getReader()
  const watch = setInterval(() => {
    if (Date.now() - lastAt > silentMs) reader.cancel().catch(() => undefined)
  }, 5_000)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    clearInterval(watch)
    reader.cancel().catch(() => undefined)
  }
}
