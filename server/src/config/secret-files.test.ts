import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { readConfig } from './config.ts'

const folder = mkdtempSync(join(tmpdir(), 'sallyport-secrets-'))
after(() => rmSync(folder, { recursive: true }))

/** A file with this content, and its path. */
function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

suite('a secret in a file', () => {
  test('counts as the variable without `_FILE`, without the end of its line', () => {
    const config = readConfig({
      DATABASE_URL_FILE: file('app', 'postgres://app:a@db/sallyport\n'),
      DATABASE_OWNER_URL_FILE: file('owner', 'postgres://owner:b@db/sallyport\n'),
      SECRET_KEY_FILE: file('key', 'a2V5\r\n'),
      SMTP_URL_FILE: file('smtp', 'smtps://user:password@mail.example.com'),
    })
    assert.equal(config.database_url, 'postgres://app:a@db/sallyport')
    assert.equal(config.database_owner_url, 'postgres://owner:b@db/sallyport')
    assert.equal(config.secret_key, 'a2V5')
    assert.equal(config.mail_server?.host, 'mail.example.com')
  })

  test('may be the client secret of the global provider', () => {
    const { oidc } = readConfig({
      OIDC_ISSUER: 'https://idp.example',
      OIDC_CLIENT_ID: 'sallyport',
      OIDC_CLIENT_SECRET_FILE: file('client', 'hunter2\n'),
      OIDC_REDIRECT_URIS: 'https://a.example/cb',
    })
    assert.equal(oidc?.client_secret, 'hunter2')
  })

  test('is none where the name of the file is empty', () =>
    assert.equal(readConfig({ DATABASE_URL_FILE: '' }).database_url, undefined))

  const refused: [string, NodeJS.ProcessEnv, RegExp][] = [
    [
      'beside the value',
      { SECRET_KEY: 'a', SECRET_KEY_FILE: '/b' },
      /^SECRET_KEY and SECRET_KEY_FILE are both set; set/,
    ],
    ['that is missing', { SECRET_KEY_FILE: '/nowhere/key' }, /^SECRET_KEY_FILE names `\/nowhere\/key`, .*\(ENOENT\)$/],
    ['that is a folder', { SMTP_URL_FILE: folder }, /^SMTP_URL_FILE names `.*`, which cannot be read \(EISDIR\)$/],
    ['that is empty', { DATABASE_URL_FILE: file('empty', '\n') }, /^DATABASE_URL_FILE names `.*`, which is empty$/],
  ]
  for (const [what, env, sentence] of refused) {
    test(`${what} refuses the start, in one sentence`, () =>
      assert.throws(() => readConfig(env), { message: sentence }))
  }
})
