import type { QueryClient } from '@tanstack/react-query'
import { standIn } from '../rehearsal/stand-in.ts'
import { concerns, type Hint, type Key } from './changes.ts'
import { setLost } from './connection.ts'
import { lead, type Message } from './lead.ts'
import { refresh } from './refresh.ts'

type LiveOptions = {
  queries: QueryClient
  user_id: string
  /** The session has ended: nothing is read until the person signs in again, here or in another window. */
  isOver: boolean
  onOver: () => void
  /** The person signed in again in another window. */
  onSignedIn: () => void
  /** The person signed out in another window. */
  onSignedOut: () => void
  onNotified: (title: string) => void
}

const anyNotification: Hint = { type: 'notification', id: null }

const channelOf = (user_id: string) => `sallyport-${user_id}`

/** Whether this window is the one that signs out: its own message reaches it too. */
let isLeaving = false

/** Says to the other windows of the browser that the person signed out. */
export function saySignedOut(user_id: string): void {
  isLeaving = true
  post(user_id, { kind: 'signed out' })
}

/** Says to the other windows of the browser that the person signed in again. */
export const saySignedIn = (user_id: string): void => post(user_id, { kind: 'signed in' })

/** Follows whether this person signs out in another window. Returns a function that ends it. */
export function followSignOut(user_id: string, onSignedOut: () => void): () => void {
  const channel = new BroadcastChannel(channelOf(user_id))
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'signed out') onSignedOut()
  }
  return () => channel.close()
}

function post(user_id: string, message: Message): void {
  const channel = new BroadcastChannel(channelOf(user_id))
  channel.postMessage(message)
  channel.close()
}

/**
 * Keeps what this window shows up to date. Of the visible windows of a browser one holds the stream, by a lock that the browser gives to the
 * next when that window is hidden or closed; it passes on what it reads. A hidden window rests: it loads again what it shows when it is
 * seen again. Returns a function that ends it.
 */
export function startLive(options: LiveOptions): () => void {
  const { queries, user_id, isOver, onOver, onSignedIn, onSignedOut, onNotified } = options
  // Windows of one session share a stream. A colleague of the rehearsal has one in each window.
  const name = standIn === undefined ? channelOf(user_id) : `${channelOf(user_id)}-${crypto.randomUUID()}`
  const channel = new BroadcastChannel(name)
  let leading: AbortController | undefined

  const refreshShown = (isStale: (key: Key) => boolean) => {
    if (!document.hidden) refresh(queries, isStale)
  }
  const reactions = {
    missed: () => refreshShown(() => true),
    connected: () => setLost(false),
    lost: () => setLost(true),
    over: onOver,
    'signed in': () => isOver && onSignedIn(),
    'signed out': () => !isLeaving && onSignedOut(),
  }
  const onMessage = (message: Message): void => {
    const { kind } = message
    if (kind === 'changed') refreshShown((key) => concerns(key, message.hint))
    else if (kind === 'notified') {
      refreshShown((key) => concerns(key, anyNotification))
      if (!document.hidden) onNotified(message.title)
    } else reactions[kind]()
  }
  const say = (message: Message) => {
    channel.postMessage(message)
    onMessage(message)
  }
  channel.onmessage = ({ data }: MessageEvent<Message>) => onMessage(data)

  const begin = () => {
    if (document.hidden || isOver) return
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
    if (!document.hidden) refresh(queries, () => true)
    begin()
  }
  document.addEventListener('visibilitychange', follow)
  begin()

  return () => {
    document.removeEventListener('visibilitychange', follow)
    leading?.abort()
    channel.close()
  }
}
