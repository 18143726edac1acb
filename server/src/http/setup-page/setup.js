/**
 * The page of a setup link: it checks the link, sends the form and says what comes next. The link's key stands behind `#`, so that it
 * reaches the server only in the bodies of these calls.
 */

const key = new URLSearchParams(location.hash.slice(1)).get('k') ?? ''
const fields = /** @type {const} */ (['name', 'email', 'tenant_name', 'password'])

/** Undefined when the server does not know the browser's zone: then clients detect it. @type {string | undefined} */
let zone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** @type {{ tenant: { id: string, name: string }, expires_at: string, password_min_length: number } | undefined} */
let link

/** What the fields say while nothing is wrong. @type {Map<string, string>} */
const hints = new Map()

/** @param {string} id */
function element(id) {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  return found
}

/** @param {string} id */
function input(id) {
  return /** @type {HTMLInputElement} */ (element(id))
}

/** @param {string} id @param {string} text */
function write(id, text) {
  element(id).textContent = text
}

/** Shows one section and reads its heading out. @param {string} id */
function show(id) {
  for (const section of document.querySelectorAll('section')) section.hidden = section.id !== id
  const heading = element(id).querySelector('h1')
  if (heading !== null) document.title = `${heading.textContent} · Sallyport`
  heading?.focus()
}

/**
 * Calls the API. Undefined when there is no answer.
 * @param {string} path @param {unknown} body @param {string} [token]
 */
async function call(path, body, token) {
  /** @type {Record<string, string>} */
  const headers = {}
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (token !== undefined) headers.Authorization = `Bearer ${token}`
  /** @type {RequestInit} */
  const request = { method: 'POST', headers, cache: 'no-store' }
  if (body !== undefined) request.body = JSON.stringify(body)
  const reply = await fetch(path, request).catch(() => undefined)
  const answer = await reply?.json().catch(() => undefined)
  // A proxy on the way may answer with a page of its own.
  if (reply === undefined || typeof answer !== 'object' || answer === null) return undefined
  return { status: reply.status, body: answer }
}

/** @param {{ status: number, body: { message?: string } } | undefined} reply */
function reasonOf(reply) {
  if (reply === undefined) return 'There was no answer. Is the service running, and your network up?'
  const { message } = reply.body
  const why =
    typeof message === 'string' ? message.charAt(0).toUpperCase() + message.slice(1) : `The answer was ${reply.status}`
  return `${why}.`
}

/** @param {string} why */
function showOver(why) {
  write('over-why', why)
  show('over')
}

async function check() {
  if (key === '') return showOver('The address lacks the part behind #k=. Copy the whole link.')
  show('checking')
  const reply = await call('/v1/auth/setup-link/check', { key })
  if (reply?.status === 401 || reply?.status === 400)
    return showOver('It was used, was replaced, or is older than an hour.')
  if (reply?.status !== 200) {
    write('unreachable-why', reasonOf(reply))
    return show('unreachable')
  }
  showForm(reply.body)
}

/** @param {NonNullable<typeof link>} checked */
function showForm(checked) {
  link = checked
  // The name that the first start gave says nothing about the organization.
  if (checked.tenant.name !== 'default') input('tenant_name').value = checked.tenant.name
  write('password-hint', `At least ${checked.password_min_length} characters, such as four or five random words.`)
  write('zone', zone ?? '')
  const until = /** @type {HTMLTimeElement} */ (element('until'))
  until.dateTime = checked.expires_at
  until.textContent = new Date(checked.expires_at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
  for (const field of fields) hints.set(field, element(`${field}-hint`).textContent ?? '')
  show('welcome')
  input('name').focus()
}

/** Says in place of a field's hint what is wrong; undefined: nothing is. @param {string} field @param {string | undefined} why */
function mark(field, why) {
  const hint = element(`${field}-hint`)
  hint.textContent = why ?? hints.get(field) ?? ''
  hint.classList.toggle('wrong', why !== undefined)
  if (why === undefined) input(field).removeAttribute('aria-invalid')
  else input(field).setAttribute('aria-invalid', 'true')
}

/** Marks each faulty field and goes to the first. False when there is none. @param {Map<string, string>} faults */
function markAll(faults) {
  for (const field of fields) mark(field, faults.get(field))
  const first = fields.find((field) => faults.has(field))
  if (first !== undefined) input(first).focus()
  return first !== undefined
}

/** What can be seen without the server. */
function emptyFields() {
  const empty = fields.filter((field) => input(field).required && input(field).value.trim() === '')
  return new Map(empty.map((field) => [field, 'Fill this in.']))
}

/** @param {{ code?: string, details?: { fields?: { pointer: string, why: string }[] } }} body */
function faultsOf({ code, details }) {
  if (code === 'user_exists') return new Map([['email', 'Another user of the tenant has this address.']])
  const listed = (details?.fields ?? []).map(
    ({ pointer, why }) => /** @type {const} */ ([pointer.slice(1), `This ${why}.`]),
  )
  return new Map(listed)
}

/** @param {SubmitEvent} event */
async function send(event) {
  event.preventDefault()
  element('failure').hidden = true
  if (markAll(emptyFields())) return
  const submit = /** @type {HTMLButtonElement} */ (element('submit'))
  const [name, email, organization, password] = fields.map((field) => input(field).value)
  submit.disabled = true
  submit.textContent = 'Setting up…'
  const organized = organization?.trim() === '' ? {} : { tenant_name: organization }
  const use = () => call('/v1/auth/setup-link', { key, name, email, password, timezone: zone, ...organized })
  let reply = await use()
  if (reply?.status === 400 && faultsOf(reply.body).has('timezone')) {
    // Nobody entered it, so nobody could correct it.
    zone = undefined
    reply = await use()
  }
  if (reply?.status === 200) return finish(reply.body.token)
  submit.disabled = false
  submit.textContent = 'Become the owner'
  if (reply?.status === 401) return showOver('It was used or replaced meanwhile, or its hour is over.')
  if (reply !== undefined && markAll(faultsOf(reply.body))) return
  write('failure', `${reasonOf(reply)} Your entries are kept.`)
  element('failure').hidden = false
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

element('form').addEventListener('submit', send)
element('again').addEventListener('click', check)
element('show').addEventListener('click', () => {
  const isShown = input('password').type === 'text'
  input('password').type = isShown ? 'password' : 'text'
  write('show', isShown ? 'Show' : 'Hide')
})
element('copy').addEventListener('click', async () => {
  const copied = await navigator.clipboard?.writeText(element('tenant').textContent ?? '').then(
    () => true,
    () => false,
  )
  write('copy', copied ? 'Copied' : 'Select it and copy')
})
// Another link in the same window changes only what follows `#`.
addEventListener('hashchange', () => location.reload())

if (history.state === null) void check()
else showDone(history.state)
