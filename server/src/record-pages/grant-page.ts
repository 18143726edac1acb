import { type Html, html } from '../kernel/html.ts'
import { badges, grantStates } from './badge.ts'
import type { GrantBody } from './bodies.ts'
import { checkAgain, connectSection, grantFacts, grantSentence, mayEnd } from './grant-parts.ts'
import { card, layout, linkButton, section } from './layout.ts'
import { nameOf } from './shown-text.ts'
import { linksOf, placeOf, type View } from './view.ts'

/** The page of a grant: who has what until when, and how the holder connects. */
export function grantPage(grant: GrantBody, view: View, above: Html | '' = ''): Html {
  const { words, own, publicUrl } = view
  const links = linksOf(publicUrl, 'grants', grant.id)
  const { action_description } = grant
  const isOwn = grant.user_id === own.id
  const acts = [
    checkAgain(grant, links.page, view),
    mayEnd(grant, own) ? linkButton(links.of('end'), words.grant.end) : '',
    isOwn && grant.status === 'active' ? linkButton(links.console, words.grant.extend) : '',
    linkButton(linksOf(publicUrl, 'requests', grant.request_id).page, words.grant.request),
  ]
  return layout({ title: words.grant.title(grant.user_name, grant.action), words, tenant: own.tenant }, [
    html`${above}`,
    card(
      badges(grantStates(grant), words),
      html`<h1>${grantSentence(grant, view)}</h1>`,
      ...grantFacts(grant, view),
      html`<div class="actions">${acts.map((act) => html`${act}`)}</div>`,
    ),
    connectSection(grant, view),
    section(
      words.request.allows,
      action_description === null ? '' : html`<p>${nameOf(action_description)}</p>`,
      html`<p>${placeOf(grant, words)}</p>`,
    ),
    html`<p>${linkButton(links.console, words.openInConsole)}</p>
<p class="ids">${grant.id}</p>`,
  ])
}
