import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { editDistance, findMisnamed } from './misnamed-variables.ts'

suite('a variable that the service does not read', () => {
  const rows: [what: string, env: Record<string, string>, nearest: string | undefined][] = [
    ['with swapped letters resembles the one it means', { DATABSAE_URL: 'x' }, 'DATABASE_URL'],
    ['with a letter too few', { DATA_DI: 'x' }, 'DATA_DIR'],
    ['in small letters', { public_url: 'x' }, 'PUBLIC_URL'],
    ['with our name before it', { SALLYPORT_PORT: '80' }, 'PORT'],
    ['with our name before something else', { SALLYPORT_DB: 'x' }, 'HOST'],
    ['with a beginning of ours', { OIDC_CLIENTID: 'x' }, 'OIDC_CLIENT_ID'],
    ['that others use as we might', { SMTP_PASSWORD: 'x' }, 'SMTP_URL'],
    ['which is known', { DATABASE_URL: 'postgres://' }, undefined],
    [
      'of something else',
      { JAVA_HOME: '/usr', HOSTNAME: 'a', TERM: 'b', SHELL: 'c', npm_config_cache: 'd' },
      undefined,
    ],
    ['that is short and only similar', { PORTS: 'x', COST: 'y' }, undefined],
    ['that a container platform sets for a service', { SALLYPORT_SERVICE_HOST: '10.0.0.1' }, undefined],
    ['and for its port', { SALLYPORT_PORT: 'tcp://10.0.0.1:80', SALLYPORT_PORT_80_TCP_ADDR: '10.0.0.1' }, undefined],
  ]
  for (const [what, env, nearest] of rows) {
    test(what, () => {
      const found = findMisnamed(env)
      assert.deepEqual(
        found.map((one) => one.nearest),
        nearest === undefined ? [] : [nearest],
      )
    })
  }
})

test('the edit distance counts letters added, left out, changed and swapped', () => {
  const rows: [string, string, number][] = [
    ['', 'abc', 3],
    ['abc', 'abc', 0],
    ['abc', 'abd', 1],
    ['abc', 'acb', 1],
    ['abc', 'bc', 1],
    ['kitten', 'sitting', 3],
  ]
  for (const [one, other, distance] of rows) assert.equal(editDistance(one, other), distance, `${one} ${other}`)
})
