/** The page of a setup link: it checks the link, sends the form and says what comes next. */
import {
  browserZone,
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

const fields = /** @type {const} */ (['name', 'email', 'tenant_name', 'password'])
const form = openFields(fields)

/** @type {{ tenant: { id: string, name: string }, expires_at: string, password_min_length: number } | undefined} */
let link

function check() {
  return checkLink('/v1/auth/setup-link/check', 'It was used, was replaced, or is older than an hour.', showForm)
}

/** @param {NonNullable<typeof link>} checked */
function showForm(checked) {
  link = checked
  // The name that the first start gave says nothing about the organization.
  if (checked.tenant.name !== 'default') input('tenant_name').value = checked.tenant.name
  write('password-hint', passwordRule(checked.password_min_length))
  write('zone', browserZone() ?? '')
  writeUntil(checked.expires_at, { hour: '2-digit', minute: '2-digit' })
  form.keepHints()
  show('welcome')
  input('name').focus()
}

/** @param {{ code?: string, details?: { fields?: { pointer: string, why: string }[] } }} body */
function faultsIn(body) {
  if (body.code === 'user_exists') return new Map([['email', 'Another user of the tenant has this address.']])
  return faultsOf(body)
}

/** @param {SubmitEvent} event */
async function send(event) {
  event.preventDefault()
  element('failure').hidden = true
  if (form.markAll(form.empty())) return
  const submit = /** @type {HTMLButtonElement} */ (element('submit'))
  const [name, email, organization, password] = fields.map((field) => input(field).value)
  submit.disabled = true
  submit.textContent = 'Setting up…'
  const organized = organization?.trim() === '' ? {} : { tenant_name: organization }
  const reply = await sendEntries('/v1/auth/setup-link', { name, email, password, ...organized })
  if (reply?.status === 200) return finish(reply.body.token)
  submit.disabled = false
  submit.textContent = 'Become the owner'
  if (reply?.status === 401) return showOver('It was used or replaced meanwhile, or its hour is over.')
  if (reply !== undefined && form.markAll(faultsIn(reply.body))) return
  showFailure(reasonOf(reply))
}

/** @param {string} token */
async function finish(token) {
  const session = await call('/v1/auth/session', undefined, token)
  const done = {
    signedIn: session?.status === 201,
    owned: input('tenant_name').value.trim() || link?.tenant.name || '',
    address: input('email').value.trim(),
    tenant: link?.tenant.id ?? '',
  }
  // The link is used up. A reload shows the same again: it must not look as if something were wrong.
  history.replaceState(done, '', location.pathname)
  rememberSignIn(done)
  input('password').value = ''
  showDone(done)
}

/** @param {{ signedIn: boolean, owned: string, address: string, tenant: string }} done */
function showDone({ signedIn, owned, address, tenant }) {
  write(
    'signed-in',
    signedIn ? 'This browser is signed in.' : 'You are set up. At this address a browser cannot stay signed in.',
  )
  write('owned', owned)
  write('address', address)
  write('tenant', tenant)
  show('done')
}

listen(check, send)
if (history.state === null) void check()
else showDone(history.state)
