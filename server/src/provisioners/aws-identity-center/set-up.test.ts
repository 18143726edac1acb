import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { suite, test } from 'node:test'
import { openAws } from '../../../test/support/aws/aws.ts'
import { noTx, openAwsTarget, patient, quick } from '../../../test/support/aws-stage.ts'
import type { Instructions, Opening } from '../driver.ts'
import type { Center } from './center.ts'
import { rolePolicy, trustPolicy } from './role-policy.ts'
import { findInstance } from './set-up.ts'

const target = await openAwsTarget()
const { aws, opening, external_id } = target
const { instance_arn, identity_store_id, region, management_account } = aws

/** What the console asks for, and nothing else. */
const answers = { region, account_id: management_account, external_id, endpoint: aws.origin }
const asked: Opening = { ...opening, config: answers }

const described = (one: Opening = asked): Promise<Instructions> => {
  if (quick.setUp === undefined) throw new Error('the type has no set-up')
  return quick.setUp.describe(one, patient)
}
const textOf = ({ snippets }: Instructions, kind: string) => snippets.find((one) => one.kind === kind)?.text ?? ''

const health = async (config: Record<string, unknown>) => {
  const driver = quick.open({ ...opening, config })
  try {
    return await driver.health(noTx, patient)
  } finally {
    await driver.close()
  }
}

suite('from a region and an account', () => {
  test('the snippet makes the role, the instance is found, and all seven checks pass', async () => {
    assert.deepEqual(
      (await health(answers)).map(({ what, ok }) => [what, ok]),
      [
        ['Sallyport’s own identity', true],
        ['the role', false],
      ],
    )
    assert.deepEqual(aws.applyTemplate(textOf(await described(), 'cloudformation')), [
      `arn:aws:iam::${management_account}:role/sallyport-provisioner`,
    ])
    const found = await quick.setUp?.find(asked, patient)
    assert.deepEqual(found, { instance_arn, identity_store_id })
    const checks = await health({ ...answers, ...found })
    assert.deepEqual(
      checks.filter(({ ok }) => !ok),
      [],
    )
    assert.deepEqual(
      checks.map(({ what }) => what),
      [
        'Sallyport’s own identity',
        'the role',
        'the instance',
        'the identity store',
        'the organization',
        'the permission sets',
        'giving and removing access',
      ],
    )
  })

  test('an instance that was not found in time is no success', async () => {
    aws.applyTemplate(textOf(await described(), 'cloudformation'))
    const checks = await health(answers)
    assert.deepEqual(
      checks.map(({ what, ok }) => [what, ok]),
      [
        ['Sallyport’s own identity', true],
        ['the role', true],
        ['the instance', false],
      ],
    )
    assert.equal(checks[2]?.message, `it is ${instance_arn}, found too late to be kept; test again`)
  })

  test('a role session of the service is trusted at any path of its role, and no other role is', async () => {
    const before = { ...process.env }
    try {
      Object.assign(process.env, aws.giveRole('apps/prod/sallyport'))
      aws.applyTemplate(textOf(await described(), 'cloudformation'))
      assert.deepEqual(await quick.setUp?.find(asked, patient), { instance_arn, identity_store_id })
      Object.assign(process.env, aws.giveRole('apps/prod/not-sallyport'))
      const [, role] = await health(answers)
      assert.match(`${role?.message}`, /AccessDenied.*its trust policy must name the identity of the service/)
    } finally {
      delete process.env.AWS_SESSION_TOKEN
      Object.assign(process.env, before)
    }
  })

  test('the snippet of Terraform has the same policies', async () => {
    const text = textOf(await described(), 'terraform')
    const documents = [...text.matchAll(/jsonencode\(\n([\s\S]*?)\n {2}\)/g)].map(([, json = '']) => JSON.parse(json))
    assert.deepEqual(documents, [trustPolicy(operatorArn, external_id), rolePolicy({})])
    assert.match(text, /name {17}= "sallyport-provisioner"/)
  })

  for (const name of ['teams/eu/sallyport', '123', '@sallyport', ',+=.@-_'])
    test(`the snippets make the role that the config names: ${name}`, async () => {
      const role_arn = `arn:aws:iam::${management_account}:role/${name}`
      const { account_id: _, ...rest } = answers
      const instructions = await described({ ...asked, config: { ...rest, role_arn } })
      assert.deepEqual(aws.applyTemplate(textOf(instructions, 'cloudformation')), [role_arn])
      const [, path, last] = /^(.*\/|)(.*)$/.exec(name) ?? []
      assert.ok(textOf(instructions, 'terraform').includes(`path                 = "/${path}"`))
      assert.ok(textOf(instructions, 'terraform').includes(`name                 = "${last}"`))
    })

  test('a role without a name cannot be asked for', async () => {
    const faultsOf = (role_arn: string) => quick.findFaults({ region, role_arn, external_id }, opening.egress)
    assert.deepEqual(await faultsOf('arn:aws:iam::111111111111:role/teams/x'), [])
    for (const name of ['', '/', 'teams/'])
      assert.equal((await faultsOf(`arn:aws:iam::111111111111:role/${name}`))[0]?.pointer, '/config/role_arn')
  })

  test('without credentials of its own, the service says how to get some', async () => {
    const before = { ...process.env }
    try {
      for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) delete process.env[name]
      const { identity, note, snippets } = await described()
      assert.deepEqual([identity, snippets], [null, []])
      assert.match(`${note}`, /no AWS credentials of its own yet: give the service an identity/)
    } finally {
      Object.assign(process.env, before)
    }
  })

  test('a region without an instance is named, with the fix', async () => {
    const elsewhere = await openAws({ rate: 10_000 })
    elsewhere.applyTemplate(textOf(await described(), 'cloudformation'))
    elsewhere.settings.instances = 0
    const config = { ...answers, endpoint: elsewhere.origin }
    await assert.rejects(quick.setUp?.find({ ...asked, config }, patient) ?? Promise.resolve(), /finds no instance in/)
    const check = (await health(config)).find(({ what }) => what === 'the instance')
    assert.match(`${check?.message}`, /name the region in which IAM Identity Center is enabled/)
  })
})

suite('an instance is kept only if a config may name it:', () => {
  const uuid = '01234567-89ab-cdef-0123-456789abcdef'
  const answered: [string | undefined, string | undefined, boolean][] = [
    [instance_arn, identity_store_id, true],
    [instance_arn, uuid, true],
    [instance_arn, undefined, false],
    [undefined, identity_store_id, false],
    [instance_arn, 'd-0123456789\0', false],
  ]
  for (const [InstanceArn, IdentityStoreId, isKept] of answered)
    test(`${InstanceArn} ${JSON.stringify(IdentityStoreId)}`, async () => {
      const sso = async () => ({ Instances: [{ InstanceArn, IdentityStoreId }] })
      const center = { config: { region }, sso } as unknown as Center
      const found = findInstance(center, { urgent: true, until: 0, signal: patient })
      if (isKept) assert.deepEqual(await found, { instance_arn: InstanceArn, identity_store_id: IdentityStoreId })
      else await assert.rejects(found, /without its ARN or its identity store/)
    })
})

const operatorArn = 'arn:aws:iam::111111111111:user/sallyport'

test('the guide shows the policies that the snippets carry', async () => {
  const url = new URL('../../../../docs/guides/provisioner-aws-identity-center.md', import.meta.url)
  const guide = await readFile(url, 'utf8')
  const shown = (mark: string) =>
    JSON.parse(new RegExp(`\`\`\`json ${mark}\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? '') as object
  assert.deepEqual(shown('role'), rolePolicy({}))
  const identity = 'arn:aws:sts::444455556666:assumed-role/who-sallyport-is/i-0123456789abcdef0'
  assert.deepEqual(shown('trust'), trustPolicy(identity, 'the external id'))
})

test('of several instances none is chosen: all are named', async () => {
  aws.applyTemplate(textOf(await described(), 'cloudformation'))
  aws.settings.instances = 2
  try {
    await assert.rejects(quick.setUp?.find(asked, patient) ?? Promise.resolve(), (error: Error) => {
      assert.match(error.message, /finds 2 instances in .*: name the organization's own in the config/)
      assert.ok(error.message.includes(instance_arn))
      return true
    })
  } finally {
    aws.settings.instances = 1
  }
})

suite('a right that the role lacks is named by its check', () => {
  const rights = [
    ['sso:ListInstances', 'the instance'],
    ['identitystore:ListUsers', 'the identity store'],
    ['organizations:DescribeAccount', 'the organization'],
    ['sso:ListPermissionSets', 'the permission sets'],
    ['sso:DeleteAccountAssignment', 'giving and removing access'],
    ['sso:CreateAccountAssignment', 'giving and removing access'],
  ] as const
  for (const [right, what] of rights) {
    test(right, async () => {
      const [role = ''] = aws.applyTemplate(textOf(await described(), 'cloudformation'))
      const { Statement } = rolePolicy({}) as { Statement: [{ Action: string[] }] }
      aws.setActions(
        role,
        Statement[0].Action.filter((one) => one !== right),
      )
      const checks = await health({ ...answers, instance_arn, identity_store_id })
      const failed = checks.filter(({ ok }) => !ok)
      assert.deepEqual([...new Set(failed.map((one) => one.what))], [what])
      assert.match(`${failed[0]?.message}`, new RegExp(`${right}.*apply the snippet again`))
    })
  }
})
