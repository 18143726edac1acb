import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Problem } from '../kernel/errors.ts'
import { sessionCookie } from './session-cookie.ts'

/** How `check` refuses: its status; undefined when it does not. */
function refusal(check: () => void): number | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    assert.ok(error instanceof Problem, String(error))
    return error.status
  }
}

const hostRefusal = (publicUrl: string, host: string | undefined) =>
  refusal(() => sessionCookie(publicUrl).requireHost({ host: host as string }))
const originRefusal = (publicUrl: string, headers: Record<string, string>) =>
  refusal(() => sessionCookie(publicUrl).requireOwnOrigin({ headers }))

const secure = 'Path=/; HttpOnly; SameSite=Lax; Secure'
const plain = 'Path=/; HttpOnly; SameSite=Lax'
const anHour = 3_600

type Address = {
  name: string
  attributes: string
  maxSeconds: number | undefined
  /** The values of `Host` that are the service's own, beside that of the URL. */
  also: string[]
}

const loopback = (name: string, also: string[]): Address => ({ name, attributes: plain, maxSeconds: anHour, also })
const https = (also: string[]): Address => ({
  ...{ name: '__Host-sallyport', attributes: secure, maxSeconds: undefined, also },
})
const usable: Record<string, Address> = {
  'https://sallyport.example.com': https(['sallyport.example.com:443', 'SALLYPORT.Example.COM']),
  'https://sallyport.example.com:8443': https(['Sallyport.example.com:8443']),
  'https://localhost': https(['localhost:443']),
  'https://127.0.0.1:8443': https([]),
  'https://192.0.2.7': https(['192.0.2.7:443']),
  'https://[2001:db8::7]:8443': https(['[2001:DB8::7]:8443', '[2001:db8:0::7]:8443']),
  'http://127.0.0.1:8080': loopback('sallyport-8080', ['localhost:8080', '[::1]:8080', 'LOCALHOST:8080', '127.1:8080']),
  'http://localhost:8080': loopback('sallyport-8080', ['127.0.0.1:8080', '[::1]:8080']),
  'http://[::1]:8080': loopback('sallyport-8080', ['localhost:8080', '127.0.0.1:8080']),
  'http://127.0.0.5:8080': loopback('sallyport-8080', ['localhost:8080', '127.0.0.1:8080']),
  'http://access.localhost:8080': loopback('sallyport-8080', ['localhost:8080', '127.0.0.1:8080']),
  'http://localhost': loopback('sallyport-80', ['localhost:80', '127.0.0.1', '127.0.0.1:80', '[::1]', '[::1]:80']),
  'http://127.0.0.1:80': loopback('sallyport-80', ['127.0.0.1:80', 'localhost']),
}
const unusable = [
  'http://sallyport.example.com',
  'http://sallyport.example.com:8080',
  'http://192.168.1.7:8080',
  'http://0.0.0.0:8080',
  'http://[2001:db8::7]',
  'http://localhost.example.com',
  'http://127.0.0.1.example.com',
  'http://notlocalhost:8080',
  'http://localhost.',
]

/** Each names another address, or none, whatever the service's own is. */
const foreignHosts: Record<string, (host: string) => string | undefined> = {
  'another name': () => 'evil.example',
  'another name at the same port': (host) => `evil.example:${new URL(`x://${host}`).port}`,
  'another port': (host) => `${nameOf(host)}:1`,
  'a port that is no number': (host) => `${nameOf(host)}:x`,
  'two ports': (host) => `${nameOf(host)}:80:80`,
  'a name below it': (host) => `evil.${host}`,
  'a name that ends with it': (host) => `evil${host}`,
  'a name that begins with it': (host) => `${nameOf(host)}.evil.example`,
  // By the URL standard, an IPv4 address with a dot after it is the same address.
  'a dot after it': (host) => (/^[\d.]+$/.test(nameOf(host)) ? undefined : host.replace(/(:\d+)?$/, '.$1')),
  'a name before it': (host) => `user@${host}`,
  'a name and a password before it': (host) => `user:secret@${host}`,
  'its name before another': (host) => `${host}@evil.example`,
  'a path after it': (host) => `${host}/`,
  'a query after it': (host) => `${host}?`,
  'a fragment after it': (host) => `${host}#`,
  'a reversed slash after it': (host) => `${host}\\`,
  'a space before it': (host) => ` ${host}`,
  'a list that begins with it': (host) => `${host}, evil.example`,
  'a list that ends with it': (host) => `evil.example,${host}`,
  'an escaped letter': (host) => `%${host.charCodeAt(0).toString(16)}${host.slice(1)}`,
  'a wide letter': (host) => `\uff4c${host.slice(1)}`,
  'a line end after it': (host) => `${host}\n`,
  'a whole URL': (host) => `https://${host}`,
  'nothing but a port': () => ':8080',
  'an empty text': () => '',
  nothing: () => undefined,
}
const nameOf = (host: string) => host.replace(/:\d+$/, '')

for (const [url, address] of Object.entries(usable)) {
  suite(`at ${url}`, () => {
    const cookie = sessionCookie(url)
    const { host, origin } = new URL(url)

    test('the cookie has its name, its attributes and its maximum lifetime (A16, A18)', () => {
      assert.deepEqual([cookie.name, cookie.maxSeconds, cookie.fault], [address.name, address.maxSeconds, undefined])
      assert.equal(cookie.set('value', 60), `${address.name}=value; Max-Age=60; ${address.attributes}`)
      assert.equal(cookie.clear(), `${address.name}=; Max-Age=0; ${address.attributes}`)
      assert.doesNotMatch(cookie.set('value', 60), /domain/i)
    })

    test('a request counts by the service’s own name only (A18)', () => {
      for (const own of [host, ...address.also]) assert.equal(hostRefusal(url, own), undefined, own)
      for (const [name, foreign] of Object.entries(foreignHosts)) {
        assert.equal(hostRefusal(url, foreign(host)), 421, `${name}: ${foreign(host)}`)
      }
    })

    test('a write counts from a page of the same origin only (A16)', () => {
      assert.equal(originRefusal(url, { origin }), undefined)
      assert.equal(originRefusal(url, { 'sec-fetch-site': 'same-origin' }), undefined)
      const [scheme = '', rest = ''] = origin.split('://')
      for (const foreign of [
        ...['null', '', 'https://evil.example', `${scheme}://evil.example`, scheme, rest, '*'],
        ...[`${scheme === 'https' ? 'http' : 'https'}://${rest}`, `${scheme}://evil.${rest}`, `${origin}.evil.example`],
        ...[`${origin}/`, `${origin}, ${origin}`, `${origin} https://evil.example`, `${origin}1`, `${origin}:1`],
        ...[origin.slice(0, -1), ` ${origin}`, origin.toUpperCase(), `${scheme}://user@${rest}`],
      ]) {
        assert.equal(originRefusal(url, { origin: foreign }), 403, foreign)
        // A browser says the same in both headers; of one that differs, nothing is believed but `same-origin`.
        assert.equal(originRefusal(url, { origin: foreign, 'sec-fetch-site': 'cross-site' }), 403, foreign)
      }
      for (const site of ['cross-site', 'same-site', 'none', '', 'Same-Origin', 'same-origin, same-origin', 'same']) {
        assert.equal(originRefusal(url, { 'sec-fetch-site': site }), 403, site)
      }
      assert.equal(originRefusal(url, {}), 403, 'no header at all')
      assert.equal(originRefusal(url, { referer: `${origin}/docs` }), 403, 'a referer is no origin')
    })
  })
}

suite('on loopback', () => {
  test('another port is another cookie and another host (A18)', () => {
    const [one, other] = [sessionCookie('http://127.0.0.1:8080'), sessionCookie('http://127.0.0.1:8081')]
    assert.notEqual(one.name, other.name)
    assert.equal(hostRefusal('http://127.0.0.1:8080', '127.0.0.1:8081'), 421)
    assert.equal(hostRefusal('http://127.0.0.1:8080', '127.0.0.1'), 421)
    assert.equal(originRefusal('http://127.0.0.1:8080', { origin: 'http://127.0.0.1:8081' }), 403)
  })

  test('a page at another name of this machine is another site, unless its browser says otherwise (A18)', () => {
    assert.equal(originRefusal('http://127.0.0.1:8080', { origin: 'http://localhost:8080' }), 403)
    const headers = { origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' }
    assert.equal(originRefusal('http://127.0.0.1:8080', headers), undefined)
  })

  test('a name of this machine is not the name of a service elsewhere (A18)', () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]', 'localhost:443']) {
      assert.equal(hostRefusal('https://sallyport.example.com', host), 421, host)
    }
  })
})

for (const url of unusable) {
  test(`at ${url} no browser can have a session, by any name (A18)`, () => {
    const { fault, maxSeconds } = sessionCookie(url)
    assert.match(String(fault), /neither https nor loopback/)
    assert.equal(maxSeconds, undefined)
    for (const host of [new URL(url).host, 'localhost', '127.0.0.1:8080', '']) {
      assert.equal(hostRefusal(url, host), 421, host)
    }
  })
}

suite('the value of the cookie', () => {
  const { read } = sessionCookie('https://sallyport.example.com')
  const reads: [name: string, cookie: string | undefined, value: string | undefined][] = [
    ['is read from the only cookie', '__Host-sallyport=abc', 'abc'],
    ['is read beside other cookies', 'theme=dark; __Host-sallyport=abc; other=x', 'abc'],
    ['is read without spaces', 'theme=dark;__Host-sallyport=abc;other=x', 'abc'],
    ['keeps what it contains', '__Host-sallyport=a=b"c', 'a=b"c'],
    ['is absent without a header', undefined, undefined],
    ['is absent in an empty header', '', undefined],
    ['is absent under another name', 'sallyport=abc; __host-sallyport=abc; __Secure-sallyport=abc', undefined],
    ['is absent under a longer name', '__Host-sallyport-2=abc; x__Host-sallyport=abc', undefined],
    ['is absent without an equals sign', '__Host-sallyport', undefined],
    ['does not count with another one: one was planted', '__Host-sallyport=abc; __Host-sallyport=def', undefined],
    ['does not count when it is present twice', '__Host-sallyport=abc; __Host-sallyport=abc', undefined],
    ['does not count with an empty one', '__Host-sallyport=abc; __Host-sallyport=', undefined],
  ]
  for (const [name, cookie, value] of reads) {
    test(`${name} (A12)`, () => assert.equal(read({ headers: { ...(cookie !== undefined && { cookie }) } }), value))
  }

  test('is that of the service’s own port on loopback (A18)', () => {
    const headers = { cookie: 'sallyport-8081=theirs; sallyport-8080=ours; __Host-sallyport=other' }
    assert.equal(sessionCookie('http://localhost:8080').read({ headers }), 'ours')
    assert.equal(sessionCookie('http://localhost').read({ headers }), undefined)
  })
})
