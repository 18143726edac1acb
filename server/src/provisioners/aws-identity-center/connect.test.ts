import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { argumentsOf } from '../../../test/support/shell.ts'
import type { CenterConfig } from './center-config.ts'
import { connectBy } from './connect.ts'
import type { Gift } from './own-set.ts'

const config: CenterConfig = {
  region: 'eu-central-1',
  instance_arn: 'arn:aws:sso:::instance/ssoins-0123456789abcdef',
  identity_store_id: 'd-0123456789',
  role_arn: 'arn:aws:iam::111122223333:role/sallyport-provisioner',
  external_id: 'not to be shown',
  portal_url: 'https://acme.awsapps.com/start/',
}
const account_id = '123456789012'
const of = (set: string, gives?: Gift, more: Partial<CenterConfig> = {}) =>
  connectBy({ ...config, ...more }, { account_id, set, ...(gives && { gives }) })
const commandsOf = (connect: ReturnType<typeof of>) => connect.commands.map(({ text }) => text)
const linksOf = (connect: ReturnType<typeof of>) => connect.links.map(({ url }) => url)

const bucket: Gift = { on: 'bucket', bucket: 'reports', may: 'read' }
const machine: Gift = { on: 'instance', instance_id: 'i-0abc' }
const database: Gift = { on: 'database', region: 'eu-west-1', resource_id: 'db-ABC', user: '-ada' }

suite('how to connect to an account', () => {
  test('links to the portal and into the console, and has a profile of the AWS CLI', () => {
    const connect = of('ReadOnlyAccess')
    assert.deepEqual(linksOf(connect), [
      'https://acme.awsapps.com/start',
      `https://acme.awsapps.com/start/#/console?account_id=${account_id}&role_name=ReadOnlyAccess`,
    ])
    const profile = `ReadOnlyAccess-${account_id}`
    assert.deepEqual(commandsOf(connect), [
      `aws sso login --profile ${profile}`,
      `aws sts get-caller-identity --profile ${profile}`,
    ])
    assert.deepEqual(
      connect.files.flatMap(({ lines }) => lines),
      [
        ...['[sso-session sallyport-ssoins-0123456789abcdef]', 'sso_start_url = https://acme.awsapps.com/start'],
        ...['sso_region = eu-central-1', 'sso_registration_scopes = sso:account:access'],
        ...[`[profile ${profile}]`, 'sso_session = sallyport-ssoins-0123456789abcdef'],
        ...[`sso_account_id = ${account_id}`, 'sso_role_name = ReadOnlyAccess', 'region = eu-central-1'],
      ],
    )
    const portal_url = 'https://acme.awsapps.com/start'
    assert.deepEqual(connect.aws, {
      account_id,
      permission_set: 'ReadOnlyAccess',
      sso_region: 'eu-central-1',
      portal_url,
      profile,
    })
  })

  test('without the portal’s address says the account, the set, and what an administrator can do', () => {
    const connect = of('ReadOnlyAccess', undefined, { portal_url: undefined } as never)
    assert.match(connect.summary, /`portal_url`/)
    assert.deepEqual([connect.links, connect.commands, connect.files], [[], [], []])
    assert.deepEqual(
      connect.fields.map(({ value }) => value),
      [account_id, 'ReadOnlyAccess'],
    )
  })

  test('has the region that the portal’s address names', () => {
    for (const portal_url of [
      'https://ssoins-0123456789abcdef.eu-west-1.portal.amazonaws.com',
      'https://ssoins-0123456789abcdef.portal.eu-west-1.app.aws/',
    ]) {
      const connect = of('ReadOnlyAccess', undefined, { portal_url })
      assert.equal(connect.aws?.sso_region, 'eu-west-1')
      assert.ok(linksOf(connect)[1]?.startsWith(`${portal_url.replace(/\/$/, '')}/#/console?`))
    }
  })

  const sets = [
    'a+b=c,d.e@f-g_h',
    '-leading',
    '+',
    '[profile x]',
    'a b',
    "a'b",
    '$(id)',
    'a\nb',
    'x]\nrole_arn = y',
    'x'.repeat(33),
    '',
  ]
  for (const set of sets) {
    test(`stays what it is with a set named ${JSON.stringify(set)}`, () => {
      const connect = of(set)
      for (const [index, line] of connect.files.flatMap(({ lines }) => lines).entries()) {
        const form =
          index === 0 || index === 4 ? /^\[(?:sso-session|profile) [A-Za-z0-9][\w.-]*\]$/ : /^[a-z_]+ = [^\s[\]#;]+$/
        assert.match(line, form)
      }
      for (const line of commandsOf(connect)) {
        const [program, ...words] = argumentsOf(line)
        assert.equal(program, 'aws')
        assert.match(words.at(-1) ?? '', /^[A-Za-z0-9][\w.-]*$/)
      }
      const isSet = /^[\w+=,.@-]{1,32}$/.test(set)
      assert.equal(connect.commands.length > 0, isSet)
      if (isSet) assert.equal(new URLSearchParams(linksOf(connect)[1]?.split('?')[1]).get('role_name'), set)
    })
  }

  test('has different profiles for sets that differ only in what a profile cannot be named', () => {
    const profiles = ['a+b', 'a=b', 'a-b', '-a-b'].map((set) => of(set).aws?.profile)
    assert.equal(new Set(profiles).size, 4)
  })
})

suite('how to connect by a set of our own', () => {
  test('lists the bucket, and opens it in the console', () => {
    const connect = of('sallyport-1', bucket)
    assert.equal(commandsOf(connect)[1], `aws s3 ls s3://reports/ --profile sallyport-1-${account_id}`)
    const query = new URLSearchParams(linksOf(connect)[1]?.split('?')[1])
    assert.equal(query.get('destination'), 'https://s3.console.aws.amazon.com/s3/buckets/reports')
    const chinese = of('sallyport-1', bucket, { instance_arn: 'arn:aws-cn:sso:::instance/ssoins-0123456789abcdef' })
    assert.ok(!linksOf(chinese)[1]?.includes('destination'), 'the console is elsewhere in another partition')
  })

  test('opens a shell on the machine; the console shows nothing of it', () => {
    const connect = of('sallyport-1', machine)
    assert.equal(commandsOf(connect)[1], `aws ssm start-session --target=i-0abc --profile sallyport-1-${account_id}`)
    assert.equal(connect.links.length, 1)
  })

  test('asks for a password of the database where its address is known', () => {
    assert.equal(of('sallyport-1', database).commands.length, 1)
    const at = { host: 'orders.x.eu-west-1.rds.amazonaws.com', port: 5432 }
    const connect = connectBy(config, { account_id, set: 'sallyport-1', gives: database, database: at })
    assert.deepEqual(argumentsOf(connect.commands[1]?.text ?? ''), [
      ...['aws', 'rds', 'generate-db-auth-token', `--hostname=${at.host}`, '--port=5432', '--username=-ada'],
      ...['--region=eu-west-1', '--profile', `sallyport-1-${account_id}`],
    ])
    assert.equal(connect.files[1]?.lines.at(-1), 'region = eu-west-1')
  })
})
