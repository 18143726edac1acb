import { type Html, html } from '../kernel/html.ts'
import { duration } from '../kernel/plain-words.ts'
import { badges, requestStates } from './badge.ts'
import type { Comment, Deciders, GrantBody, Page, RequestBody } from './bodies.ts'
import { decisionBar, decisionText, waitingBox } from './decision-parts.ts'
import { connectSection, grantItem } from './grant-parts.ts'
import { card, facts, layout, linkButton, list, section } from './layout.ts'
import { nameOf, quote } from './shown-text.ts'
import { timelineItems, timelineOf } from './timeline.ts'
import { accountsOf, idOf, linksOf, placeOf, sentenceOf, type View } from './view.ts'

/** What the API says of a request to one reader. */
export type ShownRequest = {
  request: RequestBody
  comments: Page<Comment>
  grants: Page<GrantBody>
  /** Undefined where nobody need be named: the request is decided, or its reader decides it. */
  deciders: Deciders | undefined
}

/**
 * The page of a request.
 * @param above what just happened, or went wrong
 * @param key names what a form of the page does, so that it is done once
 */
export function requestPage(shown: ShownRequest, view: View, key: string, above: Html | '' = ''): Html {
  const { request, comments, grants, deciders } = shown
  const { words, own, publicUrl } = view
  const { title } = words.request
  const timeline = timelineOf(request, { comments: comments.data, grants: grants.data }, words)
  return layout(
    {
      title: title(request.requester_name, request.action),
      words,
      tenant: own.tenant,
      hasBar: request.may_decide,
    },
    [
      html`${above}`,
      card(
        badges(requestStates(request, grants.data), words),
        html`<h1>${sentenceOf(request, words)}</h1>`,
        ...requestHead(request, view),
      ),
      request.may_decide ? decisionBar(request, view) : '',
      decisionText(request, view),
      waitingBox(request, deciders, view, key),
      accessSection(grants, view),
      allowsSection(request, view),
      aboutSection(request, view),
      whySection(request, view),
      section(words.request.timeline, list(timelineItems(timeline, view))),
      commentsSection(comments, view),
      html`<p>${linkButton(linksOf(publicUrl, 'requests', request.id).console, words.openInConsole)}</p>
<p class="ids">${request.id}</p>`,
    ].map((part) => html`${part}`),
  )
}

/** The reason and the risk, which stand below the sentence, also on the page that confirms. */
export function requestHead(request: RequestBody, { words }: View): Html[] {
  const { reason, risk, risk_reasons } = request
  const { riskHigh, riskNormal, riskReasons, reasonBy, noReason } = words.request
  return [
    reason === null || reason.trim() === ''
      ? html`<p>${noReason}</p>`
      : quote(reasonBy(nameOf(request.requester_name)), reason),
    html`${facts([[words.request.risk, risk === 'high' ? riskHigh(risk_reasons.map((one) => riskReasons[one])) : riskNormal]])}`,
  ]
}

function accessSection({ data, has_more }: Page<GrantBody>, view: View): Html {
  const { words } = view
  const more = has_more ? html`<p>${words.request.moreGrants}</p>` : ''
  const [connectable] = data.filter(({ connect, status }) => connect !== undefined && status === 'active')
  return html`${section(words.request.access, list(data.map((grant) => grantItem(grant, view))), more)}
${connectable === undefined ? '' : connectSection(connectable, view)}`
}

function allowsSection(request: RequestBody, { words }: View): Html {
  const accounts = accountsOf(request)
  const { action_description } = request
  return section(
    words.request.allows,
    action_description === null ? '' : html`<p>${nameOf(action_description)}</p>`,
    html`<p>${placeOf(request, words)}</p>`,
    facts([
      [words.request.accounts, accounts.length === 0 ? undefined : accounts.map((id) => idOf({ id })).join(', ')],
    ]),
  )
}

/** What only those see who may decide. */
function aboutSection({ requester_name, requester_groups, recent }: RequestBody, { words }: View): Html {
  if (requester_groups === undefined && recent === undefined) return html``
  const { groups, noGroups, recentFirst, recentCount, usual } = words.request
  const named = requester_groups?.map((name, index) => html`${index === 0 ? '' : ', '}${nameOf(name)}`)
  const count = recent && (recent.same_requests === 0 ? recentFirst : recentCount(recent.same_requests, recent.denied))
  const seconds = recent?.usual_duration_seconds ?? null
  return section(
    words.request.about(nameOf(requester_name)),
    facts([
      [groups, named === undefined || named.length === 0 ? noGroups : html`${named}`],
      [words.request.recent, count],
      [usual, seconds === null ? undefined : duration(seconds)],
    ]),
  )
}

function whySection({ policy_name }: RequestBody, { words }: View): Html {
  return section(words.request.why, policy_name ? html`<p>${words.request.policy(nameOf(policy_name))}</p>` : '')
}

function commentsSection({ data, has_more }: Page<Comment>, { words, clock }: View): Html {
  const items = data.map(({ author_name, created_at, text }) =>
    quote(html`${nameOf(author_name)}, ${clock.at(created_at)}`, text),
  )
  return section(words.request.comments, list(items), has_more ? html`<p>${words.request.moreComments}</p>` : '')
}
