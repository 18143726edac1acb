import { Type } from 'typebox'
import { type EventType, eventTable } from '../events/catalogue.ts'
import { DateTime, Name, OneOf, Uuid } from '../http/schema.ts'
import type { FaultyField } from '../kernel/errors.ts'
import { isName, isPlainLine, lineRule, nameRule } from '../kernel/one-line-name.ts'

/** The events that a channel may name. */
export const filterableEvents = (Object.keys(eventTable) as EventType[]).filter((type) => eventTable[type].filterable)

export const ChannelName = Name(200, { description: 'for people; need not be unique' })
export const Filters = Type.Array(OneOf(filterableEvents), { maxItems: 100, description: 'empty: every event' })

/** The fields of every new channel. */
export const newFields = {
  name: ChannelName,
  enabled: Type.Optional(Type.Boolean({ description: 'true when absent' })),
  event_filters: Type.Optional(Filters),
}

/** The fields of every channel in replies, beside its type and its config. */
export const shownFields = {
  id: Uuid,
  name: Type.String(),
  event_filters: Type.Array(Type.String()),
  enabled: Type.Boolean(),
  created_at: DateTime,
  updated_at: DateTime,
}

/** The fields of a channel that its owners choose, beside its config. */
export type Common = { name: string; event_filters: string[]; enabled: boolean }

/** The defaults of a new channel. */
export const blank: Common = { name: '', event_filters: [], enabled: true }

/** The fields after the change. */
export function changeCommon(before: Common, change: Partial<Common>): Common {
  return {
    name: change.name ?? before.name,
    event_filters: [...new Set(change.event_filters ?? before.event_filters)],
    enabled: change.enabled ?? before.enabled,
  }
}

/** The faults of a new name. The present one has none: it may be older than the rule. */
export function nameFaults(name: string | undefined, present: string): FaultyField[] {
  if (name === undefined || name === present) return []
  return isName(name) ? lineFaults('/name', name) : [{ pointer: '/name', why: nameRule }]
}

/** Text for a mail's header must be one plain line: no second header, and no text that displays differently from how it is written. */
export function lineFaults(pointer: string, text: string): FaultyField[] {
  if (!isPlainLine(text)) return [{ pointer, why: lineRule }]
  return text.includes('=?')
    ? [{ pointer, why: 'must not contain `=?`, which mail programs decode: write the text unencoded' }]
    : []
}
