import assert from 'node:assert/strict'
import { publicUrl } from './browser.ts'
import { formOf, formType } from './form.ts'
import type { House, Reply } from './house.ts'

type Visit = { form?: Record<string, string>; headers?: Record<string, string> }

/** A browser without script, which keeps cookies and sends the headers that browsers send. */
export type Visitor = {
  cookies: Map<string, string>
  /** A navigation by a link of a mail. */
  open(path: string, headers?: Record<string, string>): Promise<Reply>
  /** Sends a form of a page of the service. */
  post(path: string, form: Record<string, string>, headers?: Record<string, string>): Promise<Reply>
  /** Sends the first form of a page, with its hidden fields and these. */
  submit(page: Reply, form?: Record<string, string>): Promise<Reply>
  /** Follows a redirect to the service. */
  follow(reply: Reply): Promise<Reply>
}

/** A new browser, which knows nobody. */
export function visitorOf(house: Pick<House, 'call'>, url = publicUrl): Visitor {
  const cookies = new Map<string, string>()
  const { host, origin } = new URL(url)

  async function send(method: string, path: string, { form, headers }: Visit): Promise<Reply> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const reply = await house.call({
      method,
      url: path,
      headers: {
        host,
        accept: 'text/html',
        'sec-fetch-mode': 'navigate',
        ...(cookie !== '' && { cookie }),
        ...(form !== undefined && { 'content-type': formType }),
        ...headers,
      },
      ...(form !== undefined && { body: formOf(form) }),
    })
    for (const set of [reply.headers['set-cookie'] ?? []].flat()) keep(String(set))
    return reply
  }

  function keep(set: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
    if (/Max-Age=0\b/.test(set)) cookies.delete(name)
    else cookies.set(name, value)
  }

  const post: Visitor['post'] = (path, form, headers = {}) =>
    send('POST', path, { form, headers: { origin, 'sec-fetch-site': 'same-origin', ...headers } })
  return {
    cookies,
    open: (path, headers = {}) => send('GET', path, { headers: { 'sec-fetch-site': 'cross-site', ...headers } }),
    post,
    submit: (page, form = {}) => post(actionOf(page, url), { ...hiddenOf(page), ...form }),
    follow(reply) {
      assert.equal(reply.status, 303, reply.text)
      return send('GET', pathIn(String(reply.headers.location), url), { headers: { 'sec-fetch-site': 'same-origin' } })
    },
  }
}

/** The path of an address of the service. */
export function pathIn(address: string, url = publicUrl): string {
  assert.ok(address.startsWith(`${url}/`), `${address} leads elsewhere`)
  return address.slice(url.length)
}

function actionOf({ text }: Reply, url: string): string {
  const [, action = ''] = /<form[^>]* action="([^"]+)"/.exec(text) ?? []
  return pathIn(action, url)
}

/** The hidden fields of a page's form. */
export function hiddenOf({ text }: Reply): Record<string, string> {
  const fields = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)]
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]))
}

/** What a reader sees of a page, without the tags. */
export function shownIn({ text }: Reply): string {
  const [, body = ''] = /<main>(.*)<\/main>/s.exec(text) ?? []
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return body
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&(\w+|#39);/g, (_, name: string) => entities[name] ?? '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,:;])/g, '$1')
    .trim()
}
