import { randomBytes } from 'node:crypto'
import { Socket } from 'node:net'
import pg from 'pg'
import { backoffDelay } from '../kernel/backoff.ts'
import type { ConnectionTarget } from './client/connect.ts'
import { sql } from './sql.ts'
import type { UnrestrictedTx } from './transaction.ts'

/** The one connection of a process that hears what the database tells (NOTIFY), and keeps itself proved. */
export type Listening = {
  /** Whether nothing that was told more than two seconds ago can have gone by unheard. */
  isFresh(): boolean
  stop(): void
}

export type ListenOptions = {
  target: ConnectionTarget
  channel: string
  /**
   * Sends the beats, by other connections than the listening one: what arrives has come the way of a notice. A line that can
   * speak and not hear, as through a pooler or to a server that is primary no more, proves nothing.
   */
  beats: UnrestrictedTx
  onNotice(payload: string): void
  /** It listens anew: what was told meanwhile went by unheard. */
  onConnect(): void
  /** Told once when the first beat has come through, or the first after a loss. */
  onFresh(): void
  /** Told once for a loss, or where it could not be begun; it is tried again without end. */
  onLoss(error: unknown): void
}

const beatEveryMs = 1_000
/** A half-open connection says nothing: this long after the last good beat was sent, it counts as lost. */
const freshForMs = 2_000
/** Milliseconds. */
const backoff = { base: 100, max: 5_000 }

/** Begins to listen, and goes on until it is stopped: a connection that is lost is made again. */
export function listen(options: ListenOptions): Listening {
  let provenAt = Number.NEGATIVE_INFINITY
  let failures = 0
  let told: 'fresh' | 'lost' | undefined
  let stopping = false
  let waiting: NodeJS.Timeout | undefined
  let closeListener = () => {}

  const onBeat = (sentAt: number) => {
    provenAt = sentAt
    failures = 0
    if (told !== 'fresh') options.onFresh()
    told = 'fresh'
  }
  const onEnd = (error: unknown) => {
    provenAt = Number.NEGATIVE_INFINITY
    if (stopping) return
    if (told !== 'lost') options.onLoss(error)
    told = 'lost'
    waiting = setTimeout(open, backoffDelay(backoff, failures))
    failures += 1
  }
  const open = () => {
    closeListener = openListener(options, onBeat, onEnd)
  }
  open()

  return {
    isFresh: () => performance.now() - provenAt < freshForMs,
    stop() {
      stopping = true
      clearTimeout(waiting)
      closeListener()
    },
  }
}

/** One connection, until it ends: `onEnd` is told once, why. Answers how to end it. */
function openListener(
  { target, channel, beats, onNotice, onConnect }: ListenOptions,
  onBeat: (sentAt: number) => void,
  onEnd: (error: unknown) => void,
): () => void {
  const beatChannel = `sallyport_beat_${randomBytes(8).toString('hex')}`
  // A socket of our own: a half-open connection is let go without waiting for a farewell.
  const socket = new Socket()
  const client = new pg.Client({
    ...target,
    stream: () => socket,
    connectionTimeoutMillis: freshForMs,
    query_timeout: freshForMs,
    application_name: 'sallyport-listen',
  })
  let timer: NodeJS.Timeout | undefined
  let beat = { text: '', sentAt: 0 }
  let ended = false

  const end = (error: unknown) => {
    if (ended) return
    ended = true
    clearTimeout(timer)
    socket.destroy()
    onEnd(error)
  }
  const sendBeat = () => {
    beat = { text: randomBytes(8).toString('hex'), sentAt: performance.now() }
    timer = setTimeout(() => end(new Error('what the database tells does not come through')), freshForMs)
    beats.write([sql`select pg_notify(${beatChannel}, ${beat.text})`]).catch(end)
  }
  const onMessage = ({ channel: on, payload = '' }: pg.Notification) => {
    if (ended) return
    if (on === channel) return onNotice(payload)
    if (payload !== beat.text) return
    clearTimeout(timer)
    timer = setTimeout(sendBeat, beatEveryMs)
    onBeat(beat.sentAt)
  }
  const begin = async () => {
    await client.connect()
    // A limit on idle sessions would mean this one, which is idle by its nature.
    await client.query(`set idle_session_timeout = 0; listen ${channel}; listen ${beatChannel}`)
    if (ended) return
    onConnect()
    sendBeat()
  }

  client.on('notification', onMessage)
  client.on('error', end)
  client.on('end', () => end(new Error('the listening connection ended')))
  begin().catch(end)
  return () => end(undefined)
}
