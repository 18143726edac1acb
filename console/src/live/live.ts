import type { QueryClient } from '@tanstack/react-query'
import { concerns, type Hint, type Key } from './changes.ts'
import { setLost } from './connection.ts'
import { lead, type Message } from './lead.ts'

type LiveOptions = {
  queries: QueryClient
  user_id: string
  onOver: () => void
  /** The person signed out in another window. */
  onSignedOut: () => void
  onNotified: (title: string) => void
}

const channelOf = (user_id: string) => `sallyport-${user_id}`

/** Whether this window is the one that signs out: it hears itself too. */
let isLeaving = false

/** Tells the other windows of the browser that the person signed out. */
export function saySignedOut(user_id: string): void {
  isLeaving = true
  const channel = new BroadcastChannel(channelOf(user_id))
  channel.postMessage({ kind: 'signed out' } satisfies Message)
  channel.close()
}

/**
 * Keeps what this window shows up to date. Of the visible windows of a browser one holds the stream, by a lock that the browser gives to the
 * next when that window is hidden or closed; it passes on what it reads. A hidden window rests: it loads again what it shows when it is
 * seen again. Returns a function that ends it.
 */
export function startLive({ queries, user_id, onOver, onSignedOut, onNotified }: LiveOptions): () => void {
  const name = channelOf(user_id)
  const channel = new BroadcastChannel(name)
  let leading: AbortController | undefined

  const hear = (message: Message) => {
    if (message.kind === 'signed out') return isLeaving ? undefined : onSignedOut()
    if (message.kind === 'over') return onOver()
    if (message.kind === 'connected' || message.kind === 'lost') return setLost(message.kind === 'lost')
    if (document.hidden) return
    if (message.kind === 'changed') return refresh(queries, (key) => concerns(key, message.hint))
    if (message.kind === 'missed') return refresh(queries, () => true)
    const hint: Hint = { type: 'notification', id: null }
    refresh(queries, (key) => concerns(key, hint))
    onNotified(message.title)
  }
  const say = (message: Message) => {
    channel.postMessage(message)
    hear(message)
  }
  channel.onmessage = ({ data }: MessageEvent<Message>) => hear(data)

  const begin = () => {
    leading = new AbortController()
    const { signal } = leading
    navigator.locks
      .request(name, { signal }, () => lead(say, signal))
      // The wait for the lock ended, since the window is hidden or closes.
      .catch(() => undefined)
  }
  const follow = () => {
    leading?.abort()
    leading = undefined
    if (document.hidden) return
    refresh(queries, () => true)
    begin()
  }
  document.addEventListener('visibilitychange', follow)
  if (!document.hidden) begin()

  return () => {
    document.removeEventListener('visibilitychange', follow)
    leading?.abort()
    channel.close()
  }
}

/** Loads again what is shown, and marks the rest as old. */
function refresh(queries: QueryClient, isStale: (key: Key) => boolean): void {
  queries
    .invalidateQueries({ predicate: ({ queryKey }) => isStale(queryKey as unknown as Key) })
    // A query that fails says so where it is shown.
    .catch(() => undefined)
}
