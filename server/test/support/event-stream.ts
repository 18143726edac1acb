import { once } from 'node:events'
import { type IncomingHttpHeaders, request } from 'node:http'

/** An event as received; `data` is parsed as JSON. */
export type StreamEvent = { id?: string; event?: string; retry?: string; data?: Record<string, unknown> }

/** The events in a text of type `text/event-stream`, without comments. An incomplete last event is left out. */
export function eventsOf(text: string): StreamEvent[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((block) => {
      const fields = block.split('\n').flatMap((line) => {
        const [, name, value] = /^(\w+): (.*)$/.exec(line) ?? []
        return name === undefined ? [] : [[name, name === 'data' ? JSON.parse(value ?? '') : value]]
      })
      return fields.length === 0 ? [] : [Object.fromEntries(fields) as StreamEvent]
    })
}

/** An open stream, and the events received so far. */
export type Stream = {
  status: number
  headers: IncomingHttpHeaders
  text(): string
  events(): readonly StreamEvent[]
  /** The ids of the notifications received. */
  ids(): string[]
  /** Undefined while it is open: `whole` when the service ended it, `cut` when the connection broke. */
  ended(): 'whole' | 'cut' | undefined
  /** Stops reading from the connection. */
  deafen(): void
  close(): void
}

/** Calls on its own connection, as a browser does, and returns when the response headers have arrived. */
export async function openStream(url: string, headers: Record<string, string>): Promise<Stream> {
  const call = request(url, { headers, agent: false }).end()
  const [reply] = (await once(call, 'response')) as [import('node:http').IncomingMessage]
  call.on('error', () => undefined)
  let text = ''
  /** Read as they arrive: a test that waits for one looks at all of them every few milliseconds. */
  const events: StreamEvent[] = []
  let readTo = 0
  let ended: 'whole' | 'cut' | undefined
  reply.setEncoding('utf8').on('data', (more: string) => {
    text += more
    events.push(...eventsOf(text.slice(readTo)))
    readTo = Math.max(readTo, text.lastIndexOf('\n\n') + 2)
  })
  reply.on('error', () => undefined)
  reply.on('close', () => {
    ended = reply.complete ? 'whole' : 'cut'
  })
  return {
    status: reply.statusCode ?? 0,
    headers: reply.headers,
    text: () => text,
    events: () => events,
    ids: () => events.flatMap(({ event, id }) => (event === 'notification' && id !== undefined ? [id] : [])),
    ended: () => ended,
    deafen: () => void reply.pause(),
    close: () => void call.destroy(),
  }
}
