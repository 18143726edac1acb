import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { appRole, ownerRole, workRole } from '../db/roles.ts'
import { chooseSetup, type PasswordChoice, readSetupArguments, type SetupAct } from './setup-choice.ts'

test('passwords of roles that exist are replaced only where that is asked for', () => {
  const all = [ownerRole, appRole, workRole]
  const cases: [string[], PasswordChoice, SetupAct][] = [
    [[], undefined, 'create'],
    [[], 'new', 'create'],
    [[], 'keep', 'nothing_to_keep'],
    [all, undefined, 'refuse'],
    [all, 'keep', 'keep'],
    [all, 'new', 'replace'],
    [[appRole], undefined, 'refuse'],
    [[appRole], 'new', 'replace'],
    [[appRole], 'keep', 'incomplete'],
    [[ownerRole], 'keep', 'incomplete'],
    [[workRole], undefined, 'refuse'],
    [[workRole], 'keep', 'incomplete'],
    [[ownerRole, appRole], 'keep', 'keep'],
  ]
  for (const [roles, passwords, act] of cases)
    assert.equal(chooseSetup({ roles }, passwords), act, `${roles}; ${passwords}`)
})

suite('the command line of db:setup', () => {
  const admin_url = 'postgres://admin:kept-secret@db.example/postgres'
  test('names the server, perhaps the database, and perhaps what happens to passwords', () => {
    const read: [string[], object][] = [
      [[admin_url], { admin_url, database: 'sallyport', passwords: undefined }],
      [[admin_url, 'second'], { admin_url, database: 'second', passwords: undefined }],
      [['--keep-passwords', admin_url], { admin_url, database: 'sallyport', passwords: 'keep' }],
      [[admin_url, '--new-passwords', 'second'], { admin_url, database: 'second', passwords: 'new' }],
      [['--new-passwords', '--new-passwords', admin_url], { admin_url, database: 'sallyport', passwords: 'new' }],
      [[admin_url, '--help'], { help: true }],
      [['-h'], { help: true }],
    ]
    for (const [args, expected] of read) assert.deepEqual(readSetupArguments(args), expected, args.join(' '))
  })

  const faults: [string, string[], RegExp][] = [
    ['no address', [], /address .* is missing/],
    ['an unknown option', [admin_url, '--force'], /unknown option `--force`/],
    ['a value of an option', [admin_url, `--admin=${admin_url}`], /unknown option `--admin`;/],
    ['both choices', ['--keep-passwords', '--new-passwords', admin_url], /choose one/],
    ['a third argument', [admin_url, 'one', 'two'], /one address and one name/],
    ['an empty name', [admin_url, ''], /one address and one name/],
    ['another kind of address', ['https://admin:kept-secret@db.example'], /no address of a PostgreSQL/],
    ['a password that is not written as in a URL', ['postgres://admin:kept-secret/x@db.example/p'], /%2F/],
  ]
  for (const [name, args, sentence] of faults) {
    test(`is refused with ${name}, in a sentence without a password`, () => {
      const { fault } = readSetupArguments(args) as { fault: string }
      assert.match(fault, sentence)
      assert.ok(!fault.includes('kept-secret'), fault)
    })
  }
})
