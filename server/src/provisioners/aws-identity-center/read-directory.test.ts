import assert from 'node:assert/strict'
import { afterEach, suite, test } from 'node:test'
import { openAwsTarget, quick } from '../../../test/support/aws-stage.ts'
import { directoryOf } from '../../../test/support/directory-of.ts'
import { TargetError } from '../driver.ts'
import { awsIdentityCenterAt } from './aws-identity-center.ts'
import type { Center } from './center.ts'
import { openReadingPace } from './rate-limiter.ts'
import { directoryReader } from './read-directory.ts'

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

/** A driver of another process: it has no credentials yet, and nobody has slowed it down. */
const openFresh = (opening: Awaited<ReturnType<typeof openAwsTarget>>['opening']) =>
  awsIdentityCenterAt({ callsASecond: 5_000, operations: 500, readsASecond: 5_000 }, 0).open(opening)

suite('a person of Identity Center', async () => {
  const { aws, opening } = await openAwsTarget()
  const read = openFresh(opening).readDirectory
  const personOf = async (id: string) => (await directoryOf(read)).people.find((one) => one.id === id)
  const grace = aws.addUser('grace')

  test('has the names, title and addresses of the store, and the department and manager of its extension', async () => {
    const id = aws.addUser('Ada@Example.com', [{ Issuer: 'https://idp.example', Id: 'ada-1' }], {
      Name: { GivenName: 'Ada', FamilyName: 'Lovelace', Formatted: 'Ada Lovelace' },
      Title: 'Engineer',
      UserStatus: 'ENABLED',
      Emails: [
        { Value: 'ada@home.example', Type: 'home' },
        { Value: 'ada@example.com', Type: 'work', Primary: true },
      ],
      enterprise: { Department: 'Engines', manager: { Value: grace } },
    })
    aws.changeUser(id, { display_name: 'Ada' })
    const person = await personOf(id)
    assert.deepEqual(person?.resource, {
      userName: 'Ada@Example.com',
      name: { givenName: 'Ada', familyName: 'Lovelace', formatted: 'Ada Lovelace' },
      displayName: 'Ada',
      title: 'Engineer',
      active: true,
      emails: [
        { value: 'ada@example.com', type: 'work', primary: true },
        { value: 'ada@home.example', type: 'home' },
      ],
      [enterprise]: { department: 'Engines', manager: { value: grace } },
    })
    aws.changeUser(id, {
      Emails: [
        { Value: 'ada@example.com', Type: 'work', Primary: true },
        { Value: 'ada@home.example', Type: 'home' },
      ],
    })
    assert.deepEqual(await personOf(id), person, 'the same, in whatever order AWS lists')
  })

  test('has only what is there', async () => {
    const id = aws.addUser('bob', [], { Emails: [{}], Name: { GivenName: '' }, enterprise: {} })
    assert.deepEqual((await personOf(id))?.resource, { userName: 'bob', displayName: 'bob', active: true })
  })

  test('is not active once disabled, is again once enabled, and is gone once removed', async () => {
    const id = aws.addUser('carol')
    const isActive = async () => (await personOf(id))?.resource.active
    assert.equal(await isActive(), true)
    aws.changeUser(id, { UserStatus: 'DISABLED' })
    assert.equal(await isActive(), false)
    aws.changeUser(id, { UserStatus: 'ENABLED' })
    assert.equal(await isActive(), true)
    aws.deleteUserByHand(id)
    assert.equal(await personOf(id), undefined)
  })
})

suite('a directory of several pages', async () => {
  const { aws, opening } = await openAwsTarget()
  const everyone = Array.from({ length: 250 }, (_, place) => aws.addUser(`user-${place}@example.com`))
  const all = aws.addGroup('All', everyone)
  const few = Array.from({ length: 120 }, (_, place) => aws.addGroup(`Team ${place}`, everyone.slice(place, place + 2)))
  const nobody = aws.addGroup('Nobody')
  const driver = openFresh(opening)
  afterEach(() => aws.behave())

  test('is read whole: everyone, then every group with all its members', async () => {
    const before = aws.entries().length
    const { people, groups, error } = await directoryOf(driver.readDirectory)
    assert.equal(error, undefined)
    assert.deepEqual(
      people.map(({ id }) => id),
      everyone,
    )
    const members = new Map(groups.map(({ id, member_ids }) => [id, member_ids]))
    assert.deepEqual([...members.keys()], [all, ...few, nobody])
    assert.deepEqual(members.get(all), everyone)
    assert.deepEqual(members.get(few[7] ?? ''), everyone.slice(7, 9))
    assert.deepEqual(members.get(nobody), [])
    const count = (operation: string) =>
      aws.entries(operation).filter((entry) => aws.entries().indexOf(entry) >= before).length
    assert.deepEqual([count('ListUsers'), count('ListGroups'), count('ListGroupMemberships')], [3, 2, 3 + 121])
  })

  test('is read without its groups where nobody wants them', async () => {
    const before = aws.entries('ListGroups').length
    const { people, groups } = await directoryOf(driver.readDirectory, { groups: false })
    assert.deepEqual([people.length, groups.length, aws.entries('ListGroups').length - before], [250, 0, 0])
  })

  test('shows with a page after each call that it goes on', async () => {
    const before = aws.entries().length
    const { pages } = await directoryOf(driver.readDirectory)
    assert.ok(pages >= aws.entries().length - before - 2, `${pages} pages`)
  })

  test('leaves out a group that is removed while it is read', async () => {
    const end = aws.always(
      { operation: 'ListGroupMemberships', when: ({ GroupId }) => GroupId === few[3] },
      { error: 'ResourceNotFoundException' },
    )
    const { groups, error } = await directoryOf(driver.readDirectory)
    end()
    assert.equal(error, undefined)
    assert.equal(groups.length, 121)
    assert.ok(!groups.some(({ id }) => id === few[3]))
  })

  for (const [what, misdeed] of [
    ['fails', { error: 'InternalServerException' }],
    ['breaks off', { cut: 'half' }],
    ['is gone', { error: 'ResourceNotFoundException' }],
  ] as const) {
    test(`is not read to its end where a page of people ${what}`, async () => {
      const isSecond = ({ NextToken }: Record<string, unknown>) => NextToken !== undefined
      aws.always({ operation: 'ListUsers', when: isSecond }, misdeed)
      const { people, error } = await directoryOf(driver.readDirectory)
      assert.equal(people.length, 100)
      assert.ok(error instanceof TargetError, String(error))
    })
  }

  test('stops being read when nobody waits any more', async () => {
    const controller = new AbortController()
    aws.next('ListGroups', { hang: true })
    const reading = directoryOf(driver.readDirectory, { signal: controller.signal })
    controller.abort(new Error('enough'))
    assert.notEqual((await reading).error, undefined)
  })
})

suite('a reading that AWS throttles', () => {
  test('slows down and goes on, beyond the attempts of the SDK', async () => {
    const { aws, opening } = await openAwsTarget({ page: 2 })
    for (let count = 0; count < 6; count += 1) aws.addUser(`user-${count}`)
    aws.next({ operation: 'ListUsers', skip: 1 }, { error: 'ThrottlingException' }, 7)
    const { people, error } = await directoryOf(openFresh(opening).readDirectory)
    assert.equal(error, undefined)
    assert.equal(people.length, 6)
    const outcomes = aws.entries('ListUsers').map(({ outcome }) => outcome)
    assert.equal(outcomes.filter((outcome) => outcome === 'ThrottlingException').length, 7)
  })

  test('keeps within the rate of the store, beside another reader', async () => {
    const { aws, opening } = await openAwsTarget({ page: 1, rate: 25 })
    const everyone = Array.from({ length: 20 }, (_, place) => aws.addUser(`user-${place}`))
    const type = awsIdentityCenterAt({ callsASecond: 5_000, operations: 500, readsASecond: 100 }, 0)
    const found = await Promise.all([1, 2, 3].map(() => directoryOf(type.open(opening).readDirectory)))
    for (const { people, error } of found) assert.deepEqual([error, people.length], [undefined, everyone.length])
    assert.ok(aws.entries('ListUsers').some(({ outcome }) => outcome === 'ThrottlingException'))
  })

  test('fails for now if that lasts', async () => {
    const { aws, opening } = await openAwsTarget()
    aws.always('ListUsers', { error: 'ThrottlingException' })
    const { error } = await directoryOf(openFresh(opening).readDirectory)
    aws.behave()
    assert.ok(error instanceof TargetError && error.kind === 'transient', String(error))
    assert.equal(aws.entries('ListUsers').length, 15, 'five attempts of ours, of three each')
  })
})

for (const right of ['ListUsers', 'ListGroups', 'ListGroupMemberships']) {
  test(`names the right that the role lacks: ${right}`, async () => {
    const { aws, opening, role_arn } = await openAwsTarget()
    aws.addGroup('Developers', [aws.addUser('ada')])
    const needed = ['ListUsers', 'ListGroups', 'ListGroupMemberships'].map((one) => `identitystore:${one}`)
    aws.setActions(
      role_arn,
      needed.filter((one) => one !== `identitystore:${right}`),
    )
    const { error } = await directoryOf(quick.open(opening).readDirectory)
    assert.ok(error instanceof TargetError && error.kind === 'permanent', String(error))
    assert.ok(error.message.startsWith(`the role lacks the right \`identitystore:${right}\`: add it`), error.message)
    aws.setActions(role_arn, needed)
    assert.equal((await directoryOf(openFresh(opening).readDirectory)).error, undefined, 'no other right is needed')
  })
}

test('keeps the pace of readings', async () => {
  const { aws, opening } = await openAwsTarget({ page: 1 })
  for (let count = 0; count < 20; count += 1) aws.addUser(`user-${count}`)
  const type = awsIdentityCenterAt({ callsASecond: 5_000, operations: 500, readsASecond: 50 })
  const driver = type.open(opening)
  // The first call waits for credentials and code.
  await directoryOf(driver.readDirectory)
  const before = aws.entries().length
  await directoryOf(driver.readDirectory)
  const times = aws
    .entries()
    .slice(before)
    .map(({ at }) => at)
  const took = (times.at(-1) ?? 0) - (times[0] ?? 0)
  assert.ok(times.length >= 20, `${times.length} calls`)
  // Calls differ a little in how long they are under way.
  assert.ok(took >= (times.length - 3) * 20, `${times.length} calls in ${took} ms`)
})

suite('a store that lists somebody twice', () => {
  /** Its second page and all after it are the same, each with a token of its own. */
  const repeating = (pages: readonly (readonly string[])[]) => {
    let asked = 0
    const store = async () => {
      const Users = (pages[Math.min(asked, pages.length - 1)] ?? []).map((UserId) => ({ UserId, UserName: UserId }))
      asked += 1
      return { Users, NextToken: asked > 50 ? undefined : `token ${asked}` }
    }
    const config = { identity_store_id: 'd-1234567890' }
    const readingPace = openReadingPace({ callsASecond: 5_000, operations: 8, readsASecond: 5_000 })
    // A reading of people uses no more of a center.
    return directoryReader({ config, readingPace, store } as unknown as Center)
  }

  test('has them once', async () => {
    const read = repeating([['ada', 'ada', 'bob'], ['bob', 'carol'], []])
    const { people, error } = await directoryOf(read, { groups: false })
    assert.deepEqual([people.map(({ id }) => id), error], [['ada', 'bob', 'carol'], undefined])
  })

  test('is not read to its end where a page repeats', async () => {
    const { error, pages } = await directoryOf(repeating([['ada', 'bob']]), { groups: false })
    assert.ok(error instanceof TargetError && error.kind === 'transient', String(error))
    assert.match(error.message, /AWS repeats a page of users/)
    assert.equal(pages, 1)
  })

  test('is not read to its end where somebody has no id', async () => {
    // AWS's types let the id be missing; the lists of this test have one for each user.
    const { error } = await directoryOf(repeating([['ada'], [undefined as unknown as string]]), { groups: false })
    assert.ok(error instanceof TargetError && /without `UserId`/.test(error.message), String(error))
  })
})
