import { type EventType, eventTable } from '../events/catalogue.ts'
import { line, moment } from '../kernel/plain-words.ts'
import type {
  GrantEvent,
  GrantFacts,
  Person,
  RecordEvent,
  RecordFacts,
  RequestEvent,
  RequestFacts,
} from './event-facts.ts'
import { grantMessages } from './grant-messages.ts'
import { type Message, type Template, writeMessage } from './message.ts'
import { peopleMessages } from './people-messages.ts'
import { policyMessages } from './policy-messages.ts'
import { requestMessages } from './request-messages.ts'
import { setupMessages } from './setup-messages.ts'

/** With the messages of requests and grants, this covers every event of a channel: an event without a message is a type error. */
const recordMessages: Record<RecordEvent, Template<RecordFacts>> = {
  ...policyMessages,
  ...peopleMessages,
  ...setupMessages,
}

/** Whether the event is of a request, and has a message. */
export function isRequestEvent(type: EventType): type is RequestEvent {
  return Object.hasOwn(requestMessages, type)
}

/** Whether the event is of a grant, and has a message. */
export function isGrantEvent(type: EventType): type is GrantEvent {
  return Object.hasOwn(grantMessages, type)
}

/** Whether the event is of another record, and has a message. */
export function isRecordEvent(type: EventType): type is RecordEvent {
  return Object.hasOwn(recordMessages, type)
}

/** Characters of a person's name, at most: a long name must leave room for the action. */
const maxPersonName = 60

function boundedName(name: string): string {
  return line(name, maxPersonName)
}

function bounded({ name, email }: Person): Person {
  return { name: boundedName(name), email }
}

/** The message about the event of a request. */
export function requestMessage(type: RequestEvent, facts: RequestFacts): Message {
  const requester = bounded(facts.requester)
  const decided_by = facts.decided_by === null ? null : boundedName(facts.decided_by)
  return writeMessage(requestMessages[type]({ ...facts, requester, decided_by, actor: boundedName(facts.actor) }))
}

/** The message about the event of a grant. */
export function grantMessage(type: GrantEvent, facts: GrantFacts): Message {
  const [holder, actor] = [bounded(facts.holder), boundedName(facts.actor)]
  return writeMessage(grantMessages[type]({ ...facts, holder, actor }))
}

/** The message about the event of a record. */
export function recordMessage(type: RecordEvent, facts: RecordFacts): Message {
  return writeMessage(recordMessages[type](facts))
}

/** The message for an event without its own message, or with a deleted subject: the event and its subject. */
export function bareMessage(event: { type: EventType; at: string; subject_type: string; subject_id: string }): Message {
  const { means } = eventTable[event.type]
  return writeMessage({
    title: `${event.type}: ${means}`,
    sentence: `${means}.`,
    facts: [
      ['What', `${event.subject_type} ${event.subject_id}`],
      ['When', moment(event.at)],
    ],
  })
}
