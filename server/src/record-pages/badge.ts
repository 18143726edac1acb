import { type Html, html } from '../kernel/html.ts'
import type { GrantBody, RequestBody } from './bodies.ts'
import type { Words } from './words-en.ts'

/** The shapes of lucide (ISC licence), by the name that they have there. */
const icons = {
  clock: html`<circle cx="12" cy="12" r="10"/><path d="M12 6v6l4 2"/>`,
  check: html`<path d="M20 6 9 17l-5-5"/>`,
  minus: html`<path d="M5 12h14"/>`,
  x: html`<path d="M18 6 6 18M6 6l12 12"/>`,
  loader: html`<path d="M21 12a9 9 0 1 1-6.219-8.56"/>`,
  alert: html`<path d="m21.73 18-8-14a2 2 0 0 0-3.48 0l-8 14A2 2 0 0 0 4 21h16a2 2 0 0 0 1.73-3M12 9v4M12 17h.01"/>`,
  hand: html`<path d="M18 11V6a2 2 0 0 0-4 0M14 10V4a2 2 0 0 0-4 0v2M10 10.5V6a2 2 0 0 0-4 0v8M18 8a2 2 0 1 1 4 0v6a8 8 0 0 1-8 8h-2c-2.8 0-4.5-.86-5.99-2.34l-3.6-3.6a2 2 0 0 1 2.83-2.82L7 15"/>`,
  siren: html`<path d="M7 18v-6a5 5 0 1 1 10 0v6M5 21a1 1 0 0 0 1 1h12a1 1 0 0 0 1-1v-1a2 2 0 0 0-2-2H7a2 2 0 0 0-2 2zM21 12h1M18.5 4.5 18 5M2 12h1M12 2v1M4.929 4.929l.707.707M12 12v6"/>`,
}
type Icon = keyof typeof icons

export function icon(name: Icon): Html {
  return html`<svg viewBox="0 0 24 24" aria-hidden="true">${icons[name]}</svg>`
}

type Tone = 'neutral' | 'ok' | 'wait' | 'info' | 'bad' | 'alarm' | 'emergency'
export type State = keyof Words['states']

const looks: Readonly<Record<State, readonly [Tone, Icon]>> = {
  waiting: ['wait', 'clock'],
  approved: ['ok', 'check'],
  denied: ['neutral', 'minus'],
  unanswered: ['neutral', 'minus'],
  cancelled: ['neutral', 'minus'],
  starting: ['info', 'loader'],
  active: ['ok', 'check'],
  ending: ['info', 'loader'],
  ended: ['neutral', 'minus'],
  endedEarly: ['neutral', 'minus'],
  failed: ['bad', 'x'],
  stillHeld: ['alarm', 'alert'],
  drifted: ['wait', 'hand'],
  emergency: ['emergency', 'siren'],
  highRisk: ['wait', 'alert'],
}

/** Badges in one row: a word, a shape and a colour each. */
export function badges(states: readonly State[], words: Words): Html {
  const shown = states.map((state) => {
    const [tone, shape] = looks[state]
    return html`<li class="badge ${tone}">${icon(shape)}${words.states[state]}</li>`
  })
  return html`<ul class="badges">${shown}</ul>`
}

type GrantStates = Pick<GrantBody, 'status' | 'provisioning_status' | 'drifted'>

/** What a grant is at its target, by its two states. */
export function grantState({ status, provisioning_status }: GrantStates): State {
  if (status === 'pending') return 'starting'
  if (status === 'active') return 'active'
  if (provisioning_status === 'deprovisioning_failed') return 'stillHeld'
  if (provisioning_status === 'deprovisioning') return 'ending'
  if (status === 'failed') return 'failed'
  return status === 'expired' ? 'ended' : 'endedEarly'
}

/** The badges of a grant: its state, and whether it was changed at the target. */
export function grantStates(grant: GrantStates): State[] {
  return [grantState(grant), ...(grant.drifted ? (['drifted'] as const) : [])]
}

/** What is shown of many grants: the state that matters most to the reader. */
const firstOf: readonly State[] = ['stillHeld', 'failed', 'starting', 'active', 'ending', 'endedEarly', 'ended']

/** The badges of a request, and of the access that it gave. */
export function requestStates(
  { status, break_glass, risk }: Pick<RequestBody, 'status' | 'break_glass' | 'risk'>,
  grants: readonly GrantStates[],
): State[] {
  const held = grants.map(grantState)
  const approved = firstOf.find((state) => held.includes(state)) ?? 'approved'
  const own = { pending: 'waiting', denied: 'denied', expired: 'unanswered', cancelled: 'cancelled', approved } as const
  return [
    own[status],
    ...(break_glass ? (['emergency'] as const) : []),
    ...(risk === 'high' && !break_glass ? (['highRisk'] as const) : []),
  ]
}
