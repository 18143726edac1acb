/**
 * What the pages of one-time links share. A link's key stands behind `#`, so that it reaches the server only in the bodies of the
 * page's calls.
 */

export const key = new URLSearchParams(location.hash.slice(1)).get('k') ?? ''

/** @param {string} id */
export function element(id) {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  return found
}

/** @param {string} id */
export function input(id) {
  return /** @type {HTMLInputElement} */ (element(id))
}

/** @param {string} id @param {string} text */
export function write(id, text) {
  element(id).textContent = text
}

/** Shows one section and reads its heading out. @param {string} id */
export function show(id) {
  for (const section of document.querySelectorAll('section')) section.hidden = section.id !== id
  const heading = element(id).querySelector('h1')
  if (heading !== null) document.title = `${heading.textContent} · Sallyport`
  heading?.focus()
}

/**
 * Calls the API. Undefined when there is no answer.
 * @param {string} path @param {unknown} body @param {string} [token]
 */
export async function call(path, body, token) {
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
export function reasonOf(reply) {
  if (reply === undefined) return 'There was no answer. Is the service running, and your network up?'
  const { message } = reply.body
  const why =
    typeof message === 'string' ? message.charAt(0).toUpperCase() + message.slice(1) : `The answer was ${reply.status}`
  return `${why}.`
}

/** @param {string} why */
export function showOver(why) {
  write('over-why', why)
  show('over')
}

/**
 * Checks the link and shows the form, or what is wrong.
 * @param {string} path @param {string} over what is said of a link that does not work
 * @param {(checked: any) => void} showForm
 */
export async function checkLink(path, over, showForm) {
  if (key === '') return showOver('The address lacks the part behind #k=. Copy the whole link.')
  show('checking')
  const reply = await call(path, { key })
  if (reply?.status === 401 || reply?.status === 400) return showOver(over)
  if (reply?.status !== 200) {
    write('unreachable-why', reasonOf(reply))
    return show('unreachable')
  }
  showForm(reply.body)
}

/**
 * Remembers for the console's sign-in who signed in here last: nothing that is secret, and nothing that gives anything.
 * @param {{ tenant: string, address: string }} who
 */
export function rememberSignIn({ tenant, address }) {
  const remembered = { tenant_id: tenant, organization: tenant, email: address }
  localStorage.setItem('sallyport-sign-in', JSON.stringify(remembered))
}

/** Writes until when the link works. @param {string} moment @param {Intl.DateTimeFormatOptions} form */
export function writeUntil(moment, form) {
  const until = /** @type {HTMLTimeElement} */ (element('until'))
  until.dateTime = moment
  until.textContent = new Date(moment).toLocaleString([], form)
}

/** @param {number} length */
export function passwordRule(length) {
  return `At least ${length} characters, such as four or five random words.`
}

/**
 * The fields of a form, each with a hint that says what is wrong with its entry.
 * @param {readonly string[]} fields
 */
export function openFields(fields) {
  /** What the fields say while nothing is wrong. @type {Map<string, string>} */
  const hints = new Map()

  /** @param {string} field @param {string | undefined} why */
  function mark(field, why) {
    const hint = element(`${field}-hint`)
    hint.textContent = why ?? hints.get(field) ?? ''
    hint.classList.toggle('wrong', why !== undefined)
    if (why === undefined) input(field).removeAttribute('aria-invalid')
    else input(field).setAttribute('aria-invalid', 'true')
  }

  return {
    keepHints() {
      for (const field of fields) hints.set(field, element(`${field}-hint`).textContent ?? '')
    },
    /** Marks each faulty field and goes to the first. False when there is none. @param {Map<string, string>} faults */
    markAll(faults) {
      for (const field of fields) mark(field, faults.get(field))
      const first = fields.find((field) => faults.has(field))
      if (first !== undefined) input(first).focus()
      return first !== undefined
    },
    /** What can be seen without the server. */
    empty() {
      const empty = fields.filter(
        (field) => isShown(field) && input(field).required && input(field).value.trim() === '',
      )
      return new Map(empty.map((field) => [field, 'Fill this in.']))
    },
  }
}

/** @param {string} field */
function isShown(field) {
  return input(field).closest('[hidden]') === null
}

/** @param {{ details?: { fields?: { pointer: string, why: string }[] } }} body */
export function faultsOf({ details }) {
  const listed = (details?.fields ?? []).map(
    ({ pointer, why }) => /** @type {const} */ ([pointer.slice(1), `This ${why}.`]),
  )
  return new Map(listed)
}

/** @param {string} why */
export function showFailure(why) {
  write('failure', `${why} Your entries are kept.`)
  element('failure').hidden = false
}

/** The browser's time zone, by the platform. */
export function browserZone() {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/**
 * Sends what the person entered, and again without the time zone where the server does not know it: nobody entered it, so nobody could
 * correct it.
 * @param {string} path @param {Record<string, unknown>} entries
 */
export async function sendEntries(path, entries) {
  const reply = await call(path, { key, ...entries, timezone: browserZone() })
  const isZone = reply?.status === 400 && faultsOf(reply.body).has('timezone')
  return isZone ? call(path, { key, ...entries }) : reply
}

/** What every page of a link has. @param {() => void} check @param {(event: SubmitEvent) => void} send */
export function listen(check, send) {
  element('form').addEventListener('submit', send)
  element('again').addEventListener('click', check)
  element('show').addEventListener('click', () => {
    const isPlain = input('password').type === 'text'
    input('password').type = isPlain ? 'password' : 'text'
    write('show', isPlain ? 'Show' : 'Hide')
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
}
