import { type Html, html } from '../kernel/html.ts'
import { icon } from './badge.ts'
import { card, layout, linkButton, notice } from './layout.ts'
import type { Place } from './page-cookies.ts'
import type { Words } from './words-en.ts'

/** What the form of a sign-in shows. It is the same for every record, whether it exists or not. */
export type SignInForm = {
  place: Place
  words: Words
  publicUrl: string
  /** Why the person should sign in. */
  intro: string
  email?: string
  /** What the person typed. */
  organization?: string
  /** The organization that the link named. */
  hint?: string | undefined
  error?: string | undefined
  /** Whether the form asks for the organization at once. */
  asksOrganization?: boolean
  /** A note that could not be kept. */
  lostNote?: string | undefined
}

/** Signing in with a passphrase, or naming the organization at which one signs in. */
export function signInPage(form: SignInForm): Html {
  const { place, words, publicUrl, intro, email = '', organization = '', hint, error, asksOrganization = false } = form
  const { signIn } = words
  const hidden = hint === undefined ? '' : html`<input type="hidden" name="t" value="${hint}">`
  const opened = asksOrganization ? html` open` : ''
  return frame(words, signIn.title, [
    html`<p>${intro}</p>`,
    lostNoteField(form),
    error === undefined ? '' : errorLine(error),
    html`<form method="post" action="${publicUrl}/${place.noun}/${place.id}/sign-in">
${hidden}<div class="field"><label for="email">${signIn.email}</label>
<input id="email" name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="254" value="${email}"></div>
<div class="field"><label for="password">${signIn.passphrase}</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="1000" aria-describedby="password-hint">
<p class="hint" id="password-hint">${signIn.passphraseHint}</p></div>
<details${opened}><summary>${signIn.whichOrganization}</summary>
<label for="organization">${signIn.organization}</label>
<input id="organization" name="organization" autocomplete="organization" autocapitalize="none" spellcheck="false" maxlength="100" value="${organization}" aria-describedby="organization-hint">
<p class="hint" id="organization-hint">${signIn.organizationHint}</p></details>
<div class="actions"><button class="button primary">${signIn.button}</button></div>
</form>`,
  ])
}

/** The way to the provider of an organization: a link, because a form may lead to this service alone. */
export function providerPage({ place, words, publicUrl }: Pick<SignInForm, 'place' | 'words' | 'publicUrl'>): Html {
  const { signIn } = words
  return frame(words, signIn.provider, [
    html`<p>${signIn.providerIntro}</p>`,
    html`<div class="actions"><a class="button primary" href="${`${publicUrl}/sign-in/provider`}">${signIn.providerButton}</a></div>`,
    html`<p><a href="${`${publicUrl}/${place.noun}/${place.id}`}">${signIn.withPassphrase}</a></p>`,
  ])
}

/** For a role that needs a second factor, where the sign-in has none. */
export function factorNeededPage(form: Pick<SignInForm, 'place' | 'words' | 'publicUrl' | 'lostNote'>): Html {
  const { place, words, publicUrl } = form
  const { factor, factorNeeded, setUpFactor } = words.signIn
  return frame(words, factor, [
    html`<p>${factorNeeded}</p>`,
    lostNoteField(form),
    html`<div class="actions">${linkButton(`${publicUrl}/console/me`, setUpFactor, 'primary')}${linkButton(`${publicUrl}/${place.noun}/${place.id}`, words.checkAgain)}</div>`,
  ])
}

/** A note that may not be kept, to be copied. */
function lostNoteField({ words, lostNote = '' }: Pick<SignInForm, 'words' | 'lostNote'>): Html | '' {
  return lostNote.trim() === ''
    ? ''
    : html`<div class="field"><label for="lost">${words.note}</label><textarea id="lost" readonly rows="4">
${lostNote}</textarea></div>`
}

/** What the second step of a sign-in needs. */
export type FactorForm = Pick<SignInForm, 'place' | 'words' | 'publicUrl' | 'error'> & {
  challenge: string
  methods: readonly string[]
}

/** The second factor, as far as it needs no script. */
export function factorPage({ place, words, publicUrl, error, challenge, methods }: FactorForm): Html {
  const { signIn } = words
  const page = `${publicUrl}/${place.noun}/${place.id}`
  const label = methods.includes('totp') ? signIn.code : signIn.recoveryCode
  const mode = methods.includes('totp') ? html` autocomplete="one-time-code"` : html` autocomplete="off"`
  const passkey = html`<p>${signIn.passkey} <a href="${`${publicUrl}/console/${place.noun}/${place.id}`}">${words.openInConsole}</a></p>`
  return frame(words, signIn.factor, [
    html`<p>${signIn.factorIntro}</p>`,
    error === undefined ? '' : errorLine(error),
    html`<form method="post" action="${page}/second-factor">
<input type="hidden" name="challenge" value="${challenge}"><input type="hidden" name="methods" value="${methods.join(' ')}">
<div class="field"><label for="code">${label}</label>
<input id="code" name="code" required maxlength="100" autocapitalize="none" spellcheck="false"${mode}></div>
<div class="actions"><button class="button primary">${signIn.button}</button></div>
</form>`,
    methods.includes('passkey') ? passkey : '',
    html`<p><a href="${page}">${signIn.startAgain}</a></p>`,
  ])
}

function frame(words: Words, title: string, parts: readonly (Html | '')[]): Html {
  return layout({ title, words, tenant: undefined }, card(html`<h1 class="title">${title}</h1>`, ...parts))
}

function errorLine(text: string): Html {
  return notice(html`<p class="error">${icon('alert')}<span>${text}</span></p>`, 'bad')
}
