import { type Html, html } from '../kernel/html.ts'
import { duration } from '../kernel/plain-words.ts'
import type { GrantBody, Own, RequestBody, Resource } from './bodies.ts'
import type { Clock } from './moments.ts'
import { nameOf, strongNameOf } from './shown-text.ts'
import type { Asked, Words } from './words-en.ts'

/** What each page knows of its reader. */
export type View = { words: Words; clock: Clock; own: Own; publicUrl: string }

type Wanted = {
  resource: Resource
  resource_name: string | null
  action: string
  metadata?: Record<string, unknown>
}

const maxAccounts = 50

/** The accounts on which a permission set is requested. */
export function accountsOf({ resource, metadata = {} }: Pick<Wanted, 'resource' | 'metadata'>): string[] {
  const ids = resource.type === 'cloud_permission_set' ? metadata.account_ids : []
  return (Array.isArray(ids) ? (ids as unknown[]) : []).filter((id) => typeof id === 'string').slice(0, maxAccounts)
}

/** `1234 5678 9012`: an account's number as people read it. */
export function idOf({ id }: Pick<Resource, 'id'>): string {
  return /^\d{12}$/.test(id) ? id.replace(/(\d{4})(?=\d)/g, '$1\u00a0') : id
}

/** A permission set is named by the last part of its ARN. */
function actionOf({ action, resource }: Wanted): string {
  return resource.type === 'cloud_permission_set' ? `${action} (${resource.id.split(/[:/]/).at(-1)})` : action
}

function whereOf(wanted: Wanted, words: Words): Html {
  const { resource, resource_name } = wanted
  const accounts = accountsOf(wanted)
  if (accounts.length > 1) return html`<strong>${words.request.places(accounts.length)}</strong>`
  const [account] = accounts
  if (account !== undefined) return words.request.place('cloud_account', strongNameOf(idOf({ id: account })))
  return resource_name === null
    ? words.request.place(resource.type, strongNameOf(idOf(resource)))
    : strongNameOf(resource_name)
}

/** `payments-prod · 1234 5678 9012`, for a row of facts. */
export function placeOf(wanted: Wanted, words: Words): Html {
  const { resource, resource_name } = wanted
  const id = nameOf(idOf(resource))
  return resource_name === null ? words.request.place(resource.type, id) : html`${nameOf(resource_name)} · ${id}`
}

/** The parts of the sentence about a request. */
function askedOf(request: RequestBody, words: Words): Asked {
  const { requester_name, duration_seconds } = request
  return {
    who: strongNameOf(requester_name),
    what: strongNameOf(actionOf(request)),
    where: whereOf(request, words),
    time: duration_seconds === null ? undefined : html`<strong>${duration(duration_seconds)}</strong>`,
  }
}

/** The parts of the sentence about a grant. */
export function heldOf(grant: GrantBody, words: Words): Omit<Asked, 'time'> {
  return {
    who: strongNameOf(grant.user_name),
    what: strongNameOf(actionOf(grant)),
    where: whereOf(grant, words),
  }
}

/** `Dana requests ReadOnlyAccess on payments-prod for 1 h.` */
export function sentenceOf(request: RequestBody, words: Words): Html {
  const asked = askedOf(request, words)
  return request.extends === null ? words.request.sentence(asked) : words.request.extension(asked)
}

/** The pages of a record: here without script, and in the console. */
export function linksOf(publicUrl: string, noun: 'requests' | 'grants', id: string) {
  const page = `${publicUrl}/${noun}/${id}`
  return { page, console: `${publicUrl}/console/${noun}/${id}`, of: (act: string) => `${page}/${act}` }
}
