import { callService } from '../api/api.ts'
import type { Hint } from './changes.ts'
import { eventsOf } from './events.ts'

/** What the window that holds the stream says to all windows of the browser, itself included. */
export type Message =
  | { kind: 'changed'; hint: Hint }
  | { kind: 'notified'; title: string }
  /** Everything may have changed. */
  | { kind: 'missed' }
  | { kind: 'connected' }
  | { kind: 'lost' }
  | { kind: 'over' }
  /** The person signed out in a window of this browser. */
  | { kind: 'signed in' }
  | { kind: 'signed out' }

const [firstWaitMs, maxWaitMs] = [1_000, 15_000]

/** Holds the stream until `signal`, connects again when it breaks, and goes on where it was. */
export async function lead(say: (message: Message) => void, signal: AbortSignal): Promise<void> {
  let lastId: string | undefined
  let waitMs = firstWaitMs
  while (!signal.aborted) {
    const outcome = await follow({
      lastId,
      signal,
      onOpen() {
        waitMs = firstWaitMs
        say({ kind: 'connected' })
        // What happened before the stream began is in no event.
        if (lastId === undefined) say({ kind: 'missed' })
      },
      onEvent({ id, event, data }) {
        if (id !== undefined) lastId = id
        const message = messageOf(event, data)
        if (message !== undefined) say(message)
        return event !== 'replaced'
      },
    })
    if (signal.aborted || outcome === 'stop') return
    if (outcome === 'over') return say({ kind: 'over' })
    if (outcome === 'failed') say({ kind: 'lost' })
    // The rights of the person changed: what they see says how.
    if (outcome === 'refused') say({ kind: 'missed' })
    await pause(waitMs * (0.5 + Math.random()), signal)
    waitMs = Math.min(waitMs * 2, maxWaitMs)
  }
}

type Following = {
  lastId: string | undefined
  signal: AbortSignal
  onOpen: () => void
  /** False: do not connect again. */
  onEvent: (event: { id?: string | undefined; event?: string | undefined; data: string }) => boolean
}

/** One connection. `ended`: the service ended it, as it does from time to time. */
async function follow({
  lastId,
  signal,
  onOpen,
  onEvent,
}: Following): Promise<'ended' | 'failed' | 'over' | 'refused' | 'stop'> {
  const headers = { Accept: 'text/event-stream', ...(lastId !== undefined && { 'Last-Event-ID': lastId }) }
  try {
    const response = await callService(new Request('/v1/stream', { headers, signal, cache: 'no-store' }))
    if (response.status === 401) return 'over'
    if (response.status === 403) return 'refused'
    if (!response.ok || response.body === null) return 'failed'
    onOpen()
    for await (const event of eventsOf(response.body)) if (!onEvent(event)) return 'stop'
    return 'ended'
  } catch {
    return 'failed'
  }
}

function messageOf(event: string | undefined, data: string): Message | undefined {
  if (event === 'changed') return { kind: 'changed', hint: JSON.parse(data) as Hint }
  if (event === 'notification') return { kind: 'notified', title: (JSON.parse(data) as { title: string }).title }
  if (event === 'missed') return { kind: 'missed' }
  return undefined
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    resolve()
  })
  return promise
}
