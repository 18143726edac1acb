import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../kernel/id.ts'
import { derivedKeys, rootKeyOf, rootKeysOf } from '../secrets/root-key.ts'
import { browserCookie, browserFault, browserHash, isFromPage, isNavigation, stateCodec } from './oidc-state.ts'

const keysOf = (byte: number) => derivedKeys(rootKeysOf([rootKeyOf(Buffer.alloc(32, byte))]), 'oidc-state')

type Headers = Record<string, string>
const headersOf = (headers: Headers) => (name: string) => headers[name]

suite('a state', () => {
  const codec = stateCodec(keysOf(1))
  const claim = { tenant_id: newId(), id: newId() }
  const state = codec.sign(claim)

  test('is readable only with the key (O2)', () => {
    assert.deepEqual(codec.read(state), claim)
    assert.equal(stateCodec(keysOf(2)).read(state), undefined)
  })

  const [tenant, id, mark] = state.split('.')
  const others: [string, string][] = [
    ['empty', ''],
    ['of another tenant', `${newId()}.${id}.${mark}`],
    ['of another id', `${tenant}.${newId()}.${mark}`],
    ['without its mark', `${tenant}.${id}`],
    ['with an empty mark', `${tenant}.${id}.`],
    ['with text after it', `${state}.`],
    ['with its parts in another order', `${id}.${tenant}.${mark}`],
    ['in upper case', state.toUpperCase()],
  ]
  for (const [name, text] of others)
    test(`is invalid when it is ${name}`, () => assert.equal(codec.read(text), undefined))

  test('is invalid when its last letter is replaced by one for the same bits', () => {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const last = letters.indexOf(state.at(-1) ?? '')
    const twin = `${state.slice(0, -1)}${letters[last ^ 1]}`
    const bytesOf = (text: string) => Buffer.from(text.split('.')[2] ?? '', 'base64url')
    assert.deepEqual(bytesOf(twin), bytesOf(state))
    assert.equal(codec.read(twin), undefined)
  })
})

suite('the cookie of the browser that begins a sign-in', () => {
  test('has the prefix __Host- and is secure if the public URL is https', () => {
    const cookie = browserCookie('https://sallyport.example.com')
    const secret = cookie.newSecret()
    const text = cookie.set(secret)
    assert.equal(text, `__Host-sallyport-sign-in=${secret}; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure`)
    assert.deepEqual(cookie.read(headersOf({ cookie: `a=b; __Host-sallyport-sign-in=${secret}; c=d` })), [secret])
    assert.deepEqual(
      cookie.read(headersOf({ cookie: `sallyport-sign-in=${secret}; x__Host-sallyport-sign-in=${secret}` })),
      [],
    )
  })

  test('is read only if it holds a secret in the form that the service makes', () => {
    const cookie = browserCookie('http://127.0.0.1:8080')
    for (const text of ['', 'short', 'a'.repeat(44), `${'a'.repeat(42)}"`]) {
      assert.deepEqual(cookie.read(headersOf({ cookie: `sallyport-sign-in=${text}` })), [])
    }
    assert.deepEqual(cookie.read(headersOf({})), [])
  })
})

suite('the caller', () => {
  const callers: [string, Headers, { navigates: boolean; page: boolean }][] = [
    [
      'a browser that navigates',
      { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' },
      { navigates: true, page: true },
    ],
    ['a browser by plain http', { accept: 'text/html,*/*;q=0.8' }, { navigates: true, page: false }],
    [
      'a page of the same origin',
      { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' },
      { navigates: false, page: true },
    ],
    ['a page by plain http', { accept: '*/*', origin: 'http://10.0.0.1' }, { navigates: false, page: true }],
    ['a sandboxed page', { origin: 'null' }, { navigates: false, page: true }],
    ['a program on Node', { 'sec-fetch-mode': 'cors', accept: '*/*' }, { navigates: false, page: false }],
    ['curl', { accept: '*/*' }, { navigates: false, page: false }],
    ['a bare client', {}, { navigates: false, page: false }],
  ]
  for (const [name, headers, { navigates, page }] of callers) {
    test(`${name}`, () => {
      assert.deepEqual([isNavigation(headersOf(headers)), isFromPage(headersOf(headers))], [navigates, page])
    })
  }
})

suite('a sign-in can be finished', () => {
  const hash = browserHash('secret')
  const cases: [string, Buffer | null, string[] | null, string | undefined][] = [
    ['by the browser that began it', hash, ['other', 'secret'], undefined],
    ['not by another browser', hash, ['other'], 'other_browser'],
    ['not by a browser without the cookie', hash, [], 'other_browser'],
    ['not outside of a browser, when a browser began it', hash, null, 'other_browser'],
    ['outside, when it was begun outside', null, null, undefined],
    ['not in a browser, when it was begun outside', null, ['secret'], 'not_begun_by_browser'],
  ]
  for (const [name, began, secrets, fault] of cases) {
    test(`${name} (O15)`, () => assert.equal(browserFault(began, secrets), fault))
  }
})
