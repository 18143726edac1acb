import assert from 'node:assert/strict'
import { argon2Sync } from 'node:crypto'
import { suite, test } from 'node:test'
import { newId } from '../kernel/id.ts'
import { hashPassword, passwordFaults, unknownTenants, verifyPassword } from './password.ts'

const tenant = { tenant_id: newId() }
const form = /^\$argon2id\$v=19\$m=33792,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/

/** The argon2id hash of the password `right`, at another cost than ours. */
function trueHash(cost: { memory: number; passes: number; parallelism: number }): string {
  const nonce = Buffer.from('sixteen bytes of')
  const tag = argon2Sync('argon2id', { ...cost, message: 'right', nonce, tagLength: 32 })
  const [salt, hash] = [nonce, tag].map((bytes) => bytes.toString('base64').replaceAll('=', ''))
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${salt}$${hash}`
}

suite('a password hash', async () => {
  const phc = await hashPassword(tenant, 'correct horse battery')

  test('is argon2id in PHC form, with a salt of its own', async () => {
    assert.match(phc, form)
    assert.notEqual(await hashPassword(tenant, 'correct horse battery'), phc)
  })

  test('equals the output of argon2id for the same salt', () => {
    const [salt = '', tag] = phc.split('$').slice(4)
    const nonce = Buffer.from(salt, 'base64')
    const how = { message: 'correct horse battery', nonce, parallelism: 1, tagLength: 32, memory: 33792, passes: 2 }
    assert.equal(argon2Sync('argon2id', how).toString('base64').replace('=', ''), tag)
  })

  // The reference implementation's own vector: `echo -n password | argon2 somesalt -id -t 2 -k 65536 -p 1 -l 32`.
  const reference = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'

  const answers: [string, string, string | undefined, boolean][] = [
    ['the right password', 'correct horse battery', phc, true],
    ['a wrong password', 'correct horse batterz', phc, false],
    ['the right password in other case', 'Correct horse battery', phc, false],
    ['the right password with a space after it', 'correct horse battery ', phc, false],
    ['an empty password', '', phc, false],
    ['no hash at all', 'correct horse battery', undefined, false],
    ['a hash of the reference implementation', 'password', reference, true],
    ['a wrong password for it', 'passwore', reference, false],
    ['a hash that was changed', 'correct horse battery', phc.slice(0, -2) + (phc.endsWith('AA') ? 'BA' : 'AA'), false],
    ['a hash that was cut', 'correct horse battery', phc.slice(0, -30), false],
    ['a hash of another kind', 'x', '$2b$12$abcdefghijklmnopqrstuv', false],
    ['a valid hash with too much memory', 'right', trueHash({ memory: 131_073, passes: 1, parallelism: 1 }), false],
    ['a valid hash with too many passes', 'right', trueHash({ memory: 64, passes: 11, parallelism: 1 }), false],
    ['a valid hash with too much parallelism', 'right', trueHash({ memory: 64, passes: 1, parallelism: 5 }), false],
    [
      'a valid hash with the maximum of passes and parallelism',
      'right',
      trueHash({ memory: 64, passes: 10, parallelism: 4 }),
      true,
    ],
    ['a hash without memory', 'x', phc.replace('m=33792', 'm=0'), false],
    ['an empty hash', '', '', false],
  ]
  for (const [name, text, stored, answer] of answers) {
    test(`${answer ? 'verifies' : 'does not verify'} with ${name}`, async () => {
      assert.equal(await verifyPassword(tenant, text, stored), answer)
    })
  }

  test('verifies with any composition of the letters (NFKC)', async () => {
    const composed = await hashPassword(tenant, 'caf\u00e9 ﬁn 123')
    assert.ok(await verifyPassword(tenant, 'cafe\u0301 fin 123', composed))
  })

  test('verifies for each of eight concurrent passwords', async () => {
    const texts = Array.from({ length: 8 }, (_, index) => `password number ${index}`)
    const hashes = await Promise.all(texts.map((text) => hashPassword(tenant, text)))
    const verified = await Promise.all(texts.map((text, index) => verifyPassword(tenant, text, hashes[index])))
    assert.ok(verified.every(Boolean))
  })
})

/** What becomes of as many checks for each of the tenants, all begun at once. They cost next to nothing. */
function manyChecks(whose: readonly { tenant_id: string }[], each: number) {
  const cheap = trueHash({ memory: 64, passes: 1, parallelism: 1 })
  const begin = (one: { tenant_id: string }) => Array.from({ length: each }, () => verifyPassword(one, 'right', cheap))
  return Promise.allSettled(whose.flatMap(begin))
}

const refused = (answer: Promise<unknown>) => assert.rejects(answer, /too many password checks at once/)
const newTenants = (count: number) => Array.from({ length: count }, () => ({ tenant_id: newId() }))

suite('while as many passwords of one tenant are checked as may be', () => {
  const [one = assert.fail(), other = assert.fail()] = newTenants(2)

  // Two run and 50 wait.
  for (const [name, whose] of [
    ['a tenant', one],
    ['all tenants that do not exist, together', unknownTenants],
  ] as const) {
    test(`one more of ${name} is refused, and another tenant has its turn`, async () => {
      const checks = manyChecks([whose], 52)
      const more = [refused(verifyPassword(whose, 'x', undefined)), refused(hashPassword(whose, 'x'))]
      const theirs = [hashPassword(other, 'x'), verifyPassword(other, 'x', undefined)]
      assert.ok((await checks).every(({ status }) => status === 'fulfilled'))
      await Promise.all([...more, ...theirs])
    })
  }

  test('and of others, so that 200 wait, a single one is not refused: it takes the place of one of many', async () => {
    const checks = manyChecks(newTenants(5), 50)
    await Promise.all(newTenants(3).map((single) => verifyPassword(single, 'x', undefined)))
    const done = (await checks).filter(({ status }) => status === 'fulfilled')
    assert.equal(done.length, 2 + 200 - 3)
  })
})

suite('a new password', () => {
  const verdicts: [string, string, number, string | undefined][] = [
    ['is accepted with eight characters', 'xk7 qpwz', 8, undefined],
    ['is accepted with one kind of letter', 'mountainrivercloud', 8, undefined],
    ['is accepted with 128 characters', 'ab'.repeat(64), 8, undefined],
    ['is accepted with 128 characters outside the basic plane', '🔑🚪'.repeat(64), 8, undefined],
    ['is too short with seven characters', 'xk7qpwz', 8, 'has 7 characters: use at least 8'],
    ['is too short with four emoji, however many bytes', '🔑🔑🔑🔑', 8, 'has 4 characters: use at least 8'],
    ['is too short for a stricter setting', 'xk7 qpwz', 12, 'has 8 characters: use at least 12'],
    ['cannot be made shorter by a laxer setting', 'xk7', 1, 'has 3 characters: use at least 8'],
    ['is too long with 129 characters', 'a'.repeat(129), 8, 'has 129 characters: use at most 128'],
    ['is too common', 'password1', 8, 'is among the commonest passwords: use an unusual one'],
    [
      'is too common in full-width letters',
      'ｐａｓｓｗｏｒｄ',
      8,
      'is among the commonest passwords: use an unusual one',
    ],
    ['is accepted if it only begins with a common password', 'password1 and more', 8, undefined],
  ]
  for (const [name, text, min_length, verdict] of verdicts) {
    test(name, () => assert.equal(passwordFaults(text, { min_length }), verdict))
  }
})
