/** The page of an invitation: it checks the link, sends the form, and goes on to the provider or says what comes next. */
import {
  call,
  checkLink,
  element,
  faultsOf,
  input,
  listen,
  openFields,
  passwordRule,
  reasonOf,
  rememberSignIn,
  sendEntries,
  show,
  showFailure,
  showOver,
  write,
  writeUntil,
} from './page.js'

const fields = /** @type {const} */ (['name', 'password'])
const form = openFields(fields)
const over =
  'It was used, replaced or revoked, or is older than three days, or your roles have changed since it was made.'

/**
 * @type {{ tenant: { id: string, name: string }, email: string, name: string, expires_at: string,
 *   leads_to: 'provider' | 'password', password_min_length: number } | undefined}
 */
let link

function check() {
  return checkLink('/v1/auth/invitation/check', over, showForm)
}

function submitLabel() {
  return link?.leads_to === 'provider' ? 'Continue to your organization’s sign-in' : 'Join'
}

/** @param {NonNullable<typeof link>} checked */
function showForm(checked) {
  link = checked
  const byProvider = checked.leads_to === 'provider'
  write('inviting', checked.tenant.name)
  write('invited', checked.email)
  element('by-password').hidden = byProvider
  element('by-provider').hidden = !byProvider
  input('name').value = checked.name
  // Not shown, but there for password managers.
  input('username').value = checked.email
  write('password-hint', passwordRule(checked.password_min_length))
  write('submit', submitLabel())
  writeUntil(checked.expires_at, { dateStyle: 'medium', timeStyle: 'short' })
  form.keepHints()
  show('welcome')
  input(byProvider ? 'name' : 'password').focus()
}

/** @param {SubmitEvent} event */
async function send(event) {
  event.preventDefault()
  element('failure').hidden = true
  if (form.markAll(form.empty())) return
  const submit = /** @type {HTMLButtonElement} */ (element('submit'))
  submit.disabled = true
  submit.textContent = 'Joining…'
  const password = link?.leads_to === 'provider' ? {} : { password: input('password').value }
  const reply = await sendEntries('/v1/auth/invitation', { name: input('name').value, ...password })
  if (reply?.status === 200) return finish(reply.body)
  submit.disabled = false
  submit.textContent = submitLabel()
  if (reply?.status === 401) return showOver(over)
  // How people sign in has changed: the form is another one.
  if (reply?.status === 409) return void check()
  if (reply !== undefined && form.markAll(faultsOf(reply.body))) return
  showFailure(reasonOf(reply))
}

/** @param {{ token?: string, authorize_url?: string }} joined */
async function finish({ token, authorize_url }) {
  input('password').value = ''
  const { tenant = { id: '', name: '' }, email = '' } = link ?? {}
  const session = token === undefined ? undefined : await call('/v1/auth/session', undefined, token)
  const done = {
    way: authorize_url === undefined ? 'password' : 'provider',
    signedIn: session?.status === 201,
    joined: tenant.name,
    address: email,
    tenant: tenant.id,
    goOn: authorize_url ?? '',
  }
  // The link is used up. A reload, or the way back from the provider, shows what comes next.
  history.replaceState(done, '', location.pathname)
  if (token !== undefined) rememberSignIn(done)
  showDone(done)
  if (authorize_url !== undefined) location.assign(authorize_url)
}

/** @param {{ way: string, signedIn: boolean, joined: string, address: string, tenant: string, goOn: string }} done */
function showDone({ way, signedIn, joined, address, tenant, goOn }) {
  if (way === 'provider') {
    write('waiting-address', address)
    element('go-on').addEventListener('click', () => location.assign(goOn))
    return show('at-provider')
  }
  write(
    'signed-in',
    signedIn ? 'This browser is signed in.' : 'You have joined. At this address a browser cannot stay signed in.',
  )
  write('joined', joined)
  write('address', address)
  write('tenant', tenant)
  show('done')
}

listen(check, send)
if (history.state === null) void check()
else showDone(history.state)
