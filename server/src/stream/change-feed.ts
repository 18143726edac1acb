import { hash } from 'node:crypto'
import type { ChangeFeed, RecordedChanges } from '../kernel/context.ts'
import { changesOf, type EventSubject } from './change.ts'

/** A place in the order of the commits. */
export type Place = { xid: string; seq: string }
export type PlacedSubject = Place & EventSubject & { id: string }

/** The events of a tenant that a process keeps, and that it reads at once. A stream that is further behind has missed some. */
export const feedLength = 250

export type OpenChangeFeed = ChangeFeed & {
  /** The place up to which events were read; undefined before the first read. */
  place(): Place | undefined
  /** Reads the new events, in a read that begins after this call. Returns whether there may be more. */
  refresh(): Promise<boolean>
}

/**
 * The feed of one tenant. `read` returns its events after a place in their order, at most `feedLength`; without a place, the newest.
 * `onGrown` is called after each read that found some.
 */
export function openChangeFeed(
  read: (after: Place | undefined) => Promise<readonly PlacedSubject[]>,
  onGrown: () => void,
): OpenChangeFeed {
  let kept: readonly RecordedChanges[] = []
  /** The number of events before `kept`. */
  let dropped = 0
  let place: Place | undefined
  let running: Promise<unknown> = Promise.resolve()
  let waiting: Promise<boolean> | undefined

  async function readNew(): Promise<boolean> {
    const isFirst = place === undefined
    const rows = await read(place)
    const last = rows.at(-1)
    place = last === undefined ? (place ?? beginning) : { xid: last.xid, seq: last.seq }
    if (last === undefined) return false
    const all = [...kept, ...rows.map((row) => ({ mark: markOf(row.id), changes: changesOf(row) }))]
    kept = all.slice(-feedLength)
    dropped += all.length - kept.length
    onGrown()
    return !isFirst && rows.length === feedLength
  }

  function refresh(): Promise<boolean> {
    waiting ??= running.then(() => {
      waiting = undefined
      const reading = readNew()
      running = reading.catch(() => undefined)
      return reading
    })
    return waiting
  }

  function positionOf(mark: string): number | undefined {
    const index = kept.findLastIndex((one) => one.mark === mark)
    return index === -1 ? undefined : dropped + index + 1
  }

  return {
    place: () => place,
    refresh,
    end: () => dropped + kept.length,
    lastMark: () => kept.at(-1)?.mark ?? noMark,
    async find(mark) {
      const known = positionOf(mark)
      if (known !== undefined || mark === noMark) return known
      // Another process may have read further than this one.
      await refresh()
      return positionOf(mark)
    },
    after: (position) => (position < dropped ? undefined : kept.slice(position - dropped)),
  }
}

const beginning: Place = { xid: '0', seq: '0' }

/** Of a tenant without events. */
const noMark = '0'.repeat(16)

/** The mark of an event: shorter than its id, and of the same length for each event. */
export function markOf(event_id: string): string {
  // Not a slice of the text, which would keep all of it in memory.
  return hash('sha256', event_id, 'buffer').toString('hex', 0, noMark.length / 2)
}
