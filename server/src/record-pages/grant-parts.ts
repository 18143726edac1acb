import { type Html, html } from '../kernel/html.ts'
import { duration } from '../kernel/plain-words.ts'
import { badges, grantState, grantStates } from './badge.ts'
import type { Connect, GrantBody, Own } from './bodies.ts'
import { facts, linkButton, section } from './layout.ts'
import { foreignText, nameOf, writtenText } from './shown-text.ts'
import { heldOf, linksOf, type View } from './view.ts'

/** Whether the reader may end the access: their own, or with the right to end that of others. */
export function mayEnd({ user_id, status }: Pick<GrantBody, 'user_id' | 'status'>, { id, scopes }: Own): boolean {
  return (status === 'pending' || status === 'active') && (user_id === id || scopes.includes('grants:revoke'))
}

/** `Dana has ReadOnlyAccess on payments-prod until 15:05.` */
export function grantSentence(grant: GrantBody, { words, clock }: View): Html {
  const held = heldOf(grant, words)
  const state = grantState(grant)
  if (state === 'stillHeld') return words.grant.stillHas(held)
  if (state === 'failed') return words.grant.failed(held)
  if (state === 'starting') return words.grant.gets(held, html`<strong>${duration(grant.duration_seconds)}</strong>`)
  const until = grant.ended_at ?? grant.expires_at
  if (until === undefined) return words.grant.sentence(held)
  return state === 'active' ? words.grant.has(held, clock.at(until)) : words.grant.had(held, clock.at(until))
}

/** What is known of the end, and of what the target answered. */
export function grantFacts(grant: GrantBody, { words, clock }: View): (Html | '')[] {
  const {
    ended_at,
    ended_by_name,
    end_reason,
    last_error,
    sessions_may_live_until: sessions,
    sessions_note: note,
  } = grant
  const isOver = grant.status !== 'pending' && grant.status !== 'active'
  return [
    ended_at !== undefined && ended_by_name !== null
      ? html`<p>${words.grant.endedBy(nameOf(ended_by_name), clock.when(ended_at))}</p>`
      : '',
    isOver && typeof sessions === 'string' && !clock.isPast(sessions)
      ? html`<p>${words.grant.sessions(clock.at(sessions))}${note === undefined ? '' : html` ${foreignText(note)}`}</p>`
      : '',
    facts([
      [words.grant.endReason, isOver && end_reason !== null ? writtenText(end_reason) : undefined],
      [words.grant.target, last_error === null ? undefined : foreignText(last_error)],
    ]),
  ]
}

/** A grant in the list of its request. */
export function grantItem(grant: GrantBody, view: View): Html {
  const { words, own, publicUrl } = view
  const links = linksOf(publicUrl, 'grants', grant.id)
  const end = mayEnd(grant, own) ? linkButton(links.of('end'), words.grant.end) : ''
  const again = checkAgain(grant, linksOf(publicUrl, 'requests', grant.request_id).page, view)
  return html`${badges(grantStates(grant), words)}
<p>${grantSentence(grant, view)}</p>
${grantFacts(grant, view).map((part) => html`${part}`)}
<div class="actions">${again}${end}${linkButton(links.page, words.grant.open)}</div>`
}

/** A page without script does not follow what happens at the target: a link shows the present state. */
export function checkAgain(grant: GrantBody, page: string, { words }: View): Html | '' {
  const state = grantState(grant)
  return state === 'starting' || state === 'ending' ? linkButton(page, words.checkAgain) : ''
}

/** How the holder connects; nothing for other readers, and before the access is there. */
export function connectSection(grant: GrantBody, { words, own }: View): Html {
  const { connect, status, user_id } = grant
  if (connect === undefined || status !== 'active' || user_id !== own.id) return html``
  return section(words.grant.connect, ...connectParts(connect, words))
}

function connectParts({ summary, links, fields, commands, files }: Connect, words: View['words']): (Html | '')[] {
  return [
    html`<p lang="en">${summary}</p>`,
    links.length === 0
      ? ''
      : html`<div class="actions">${links.map(({ label, url }) => html`<a class="button" rel="noreferrer" href="${url}">${label}</a>`)}</div>`,
    facts(fields.map(({ label, value }) => [label, html`<bdi>${value}</bdi>`] as const)),
    ...files.map(
      ({ label, path, lines }) =>
        html`<h3>${label}</h3><p class="hint">${words.grant.into(html`<code>${path}</code>`)}</p><pre class="code">${lines.join('\n')}</pre>`,
    ),
    ...commands.map(({ label, text }) => html`<h3>${label}</h3><pre class="code">${text}</pre>`),
  ]
}
