import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { readConfig } from './config.ts'

const read = (env: NodeJS.ProcessEnv) => readConfig(env).mail_server

test('without SMTP_URL there is no mail server', () => assert.equal(read({}), undefined))

suite('a mail server', () => {
  const plain = { login: undefined, connections: 5, per_second: 10 }
  const login = { user: 'me@example.com', password: 'p@ss:w/rd' }
  const cases: [NodeJS.ProcessEnv, object][] = [
    [{ SMTP_URL: 'smtp://mail.example.com' }, { host: 'mail.example.com', port: 587, tls: 'starttls', ...plain }],
    [{ SMTP_URL: 'smtps://mail.example.com/' }, { host: 'mail.example.com', port: 465, tls: 'implicit', ...plain }],
    [{ SMTP_URL: 'smtp://[2001:db8::1]:25' }, { host: '2001:db8::1', port: 25, tls: 'starttls', ...plain }],
    [
      { SMTP_URL: 'smtp://me%40example.com:p%40ss%3Aw%2Frd@mail.example.com:2525' },
      { host: 'mail.example.com', port: 2525, tls: 'starttls', ...plain, login },
    ],
    [{ SMTP_URL: 'smtp://127.0.0.1:25' }, { host: '127.0.0.1', port: 25, tls: 'never', ...plain }],
    [{ SMTP_URL: 'smtp://[::1]:25' }, { host: '::1', port: 25, tls: 'never', ...plain }],
    [
      { SMTP_URL: 'smtp://localhost', SMTP_TLS: 'always' },
      { host: 'localhost', port: 587, tls: 'starttls', ...plain },
    ],
    [
      { SMTP_URL: 'smtp://relay:25', SMTP_TLS: 'never' },
      { host: 'relay', port: 25, tls: 'never', ...plain },
    ],
    [
      { SMTP_URL: 'smtps://mail.example.com', SMTP_CONNECTIONS: '2', SMTP_MESSAGES_PER_SECOND: '0' },
      { host: 'mail.example.com', port: 465, tls: 'implicit', login: undefined, connections: 2, per_second: 0 },
    ],
  ]
  for (const [env, server] of cases) {
    test(`is read from ${JSON.stringify(env)}`, () => assert.deepEqual(read(env), server))
  }

  const secret = 'hunter2'
  const faulty: [NodeJS.ProcessEnv, RegExp][] = [
    [{ SMTP_URL: `https://me:${secret}@mail.example.com` }, /begin with smtp:\/\/ or smtps:\/\//],
    [{ SMTP_URL: `smtp://me:${secret}@` }, /not an address of a mail server/],
    [{ SMTP_URL: `smtp://me:${secret}@mail.example.com:0` }, /not an address of a mail server/],
    [{ SMTP_URL: `smtp://me:${secret}@mail.example.com:99999` }, /not an address of a mail server/],
    [{ SMTP_URL: `smtp://me:${secret}@mail.example.com:465` }, /use smtps/],
    [{ SMTP_URL: `smtp://me:${secret}@mail_1;x.example.com` }, /not an address of a mail server/],
    [{ SMTP_URL: `smtp://me:${secret}/@mail.example.com` }, /not an address of a mail server|more than a host/],
    [{ SMTP_URL: `smtp://me:${secret}@mail.example.com/?pool=true` }, /more than a host/],
    [{ SMTP_URL: `smtp://me:${secret}@mail.example.com/#x` }, /more than a host/],
    [{ SMTP_URL: `smtp://:${secret}@mail.example.com` }, /without a user/],
    [{ SMTP_URL: 'smtp://me@mail.example.com' }, /without a password/],
    [{ SMTP_URL: `smtp://me:${secret}%zz@mail.example.com` }, /encodes nothing/],
    [{ SMTP_URL: `smtp://me:${secret}%00@mail.example.com` }, /control character/],
    [{ SMTP_URL: `smtp://me:${secret}@mail.example.com`, SMTP_TLS: 'never' }, /unencrypted/],
    [{ SMTP_URL: `smtps://me:${secret}@mail.example.com`, SMTP_TLS: 'never' }, /begins with smtps/],
    [{ SMTP_URL: `smtp://me:${secret}@mail.example.com`, SMTP_TLS: 'maybe' }, /SMTP_TLS is `maybe`/],
    [{ SMTP_URL: 'smtp://mail.example.com', SMTP_CONNECTIONS: '0' }, /1 to 50/],
    [{ SMTP_URL: 'smtp://mail.example.com', SMTP_MESSAGES_PER_SECOND: '-1' }, /0 to 1000/],
    [{ SMTP_CONNECTIONS: '2' }, /without SMTP_URL/],
    [{ SMTP_TLS: 'always' }, /without SMTP_URL/],
    [{ MAIL_FROM: 'Sallyport <a@example.com>' }, /one e-mail address/],
    [{ MAIL_FROM: 'a@example.com\r\nBcc: b@example.com' }, /one e-mail address/],
  ]
  for (const [env, sentence] of faulty) {
    test(`is refused from ${JSON.stringify(env)}, in one sentence without the password (S3)`, () => {
      assert.throws(
        () => readConfig(env),
        (error: Error) => sentence.test(error.message) && !error.message.includes(secret),
      )
    })
  }
})

test('mail comes from MAIL_FROM, or else from `sallyport` at the host of PUBLIC_URL', () => {
  const from = (env: NodeJS.ProcessEnv) => readConfig(env).mail_from
  assert.equal(from({ MAIL_FROM: 'access@example.com' }), 'access@example.com')
  assert.equal(from({ PUBLIC_URL: 'https://sallyport.example.com:8443/x' }), 'sallyport@sallyport.example.com')
  // A bare IP address cannot be the domain of a mail address.
  assert.equal(from({}), 'sallyport@localhost')
  assert.equal(from({ PUBLIC_URL: 'http://[::1]:8080' }), 'sallyport@localhost')
})
