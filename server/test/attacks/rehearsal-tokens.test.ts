import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { goLiveWith } from '../../src/rehearsal/go-live.flow.ts'
import { endAccessOfAll } from '../../src/requests/transition-store.ts'
import { setLive } from '../../src/tenants/operator.flow.ts'
import { openHouse } from '../support/house.ts'
import { fromOwnPage } from '../support/presented.ts'
import { nothingLeft, rehearsalStage } from '../support/rehearsal-stage.ts'
import { sampleBodies } from '../support/sample-bodies.ts'

/** What an attacker would want of the rehearsal: to be a real person, to stay, to be more, and to outlive it. */
const house = await openHouse()
const goLive = goLiveWith(endAccessOfAll)

suite('a token of the rehearsal', () => {
  test('is never a real person’s, another tenant’s or one’s own: the answer is that of an unknown id', async () => {
    const [stage, other] = [await rehearsalStage(house, 'real'), await rehearsalStage(house, 'foreign')]
    const { owner, people, idOf } = stage
    const ids = [newId(), owner.user_id, people.user.user_id, other.idOf('ada'), stage.tenant_id]
    assert.equal((await stage.call(owner, 'DELETE', `/v1/users/${idOf('ben')}`)).status, 204)
    const replies = await Promise.all([...ids, idOf('ben')].map((id) => stage.askToken(id)))
    const answers = replies.map(({ status, body: { request_id: _, ...body } }) => JSON.stringify([status, body]))
    assert.equal(new Set(answers).size, 1, answers.join('\n'))
    assert.deepEqual([replies[0]?.status, replies[0]?.body.code], [404, 'not_found'])
    assert.deepEqual(await stage.eventsOf('user.rehearsal_token_created'), [])
  })

  test('is given to an owner alone, in a session of a person', async () => {
    const stage = await rehearsalStage(house, 'non-owner')
    const { tenant_id, people, owner, idOf } = stage
    for (const by of [people.admin, people.user, await stage.become('ada')]) {
      const reply = await stage.askToken(idOf('ben'), by)
      assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'])
    }
    const key = { method: 'POST', url: '/v1/rehearsal/token', tenant_id, api_key: owner.api_key }
    assert.equal((await house.call({ ...key, body: { user_id: idOf('ben') } })).status, 403)
    assert.equal((await stage.eventsOf('user.rehearsal_token_created')).length, 1, 'that of Ada')
  })

  test('names its owner on record, is not cached, and lives for 15 minutes with a session that the person sees', async () => {
    const stage = await rehearsalStage(house, 'on record')
    const reply = await stage.askToken(stage.idOf('ada'))
    assert.deepEqual([reply.status, reply.headers['cache-control']], [201, 'no-store'])
    const ada = { token: String(reply.body.token) }
    const sessions = (await stage.call(ada, 'GET', '/v1/users/me/sessions')).body.data as Record<string, string>[]
    const [session] = sessions
    assert.deepEqual([sessions.length, session?.current, session?.amr], [1, true, []])
    const [, payload] = ada.token.split('.')
    const { iat, exp, sid } = JSON.parse(Buffer.from(String(payload), 'base64url').toString()) as Record<string, number>
    assert.equal(Number(exp) - Number(iat), 900)
    const lives = Date.parse(String(session?.ends_at)) - Date.parse(String(session?.created_at))
    assert.ok(lives > 890_000 && lives <= 900_000, String(lives))
    const [event] = await stage.eventsOf('user.rehearsal_token_created')
    assert.deepEqual(
      [event?.actor_id, event?.subject_id, event?.data.sid],
      [stage.owner.user_id, stage.idOf('ada'), sid],
    )
    await stage.rows('update user_session set live_until = now() where tenant_id = $1 and id = $2', sid)
    assert.equal((await stage.call(ada, 'GET', '/v1/users/me')).status, 401)
  })

  test('becomes nothing that lasts: no session of a browser, password, second factor or key', async () => {
    const stage = await rehearsalStage(house, 'lasting')
    const { tenant_id } = stage
    // As an admin, whom nothing else would stop.
    const roles = { roles: ['user', 'approver', 'admin'] }
    assert.equal((await stage.call(stage.owner, 'PUT', `/v1/users/${stage.idOf('ada')}/roles`, roles)).status, 200)
    const ada = await stage.become('ada')
    const tries: [string, unknown][] = [
      ['/v1/auth/session', undefined],
      ['/v1/auth/refresh-token', undefined],
      ['/v1/users/me/password', sampleBodies.changeOwnPassword],
      ['/v1/users/me/second-factors', sampleBodies.beginSecondFactor],
      [`/v1/users/me/second-factors/${newId()}/confirm`, sampleBodies.confirmSecondFactor],
      ['/v1/users/me/recovery-codes', undefined],
      ['/v1/api-keys', sampleBodies.createApiKey],
    ]
    for (const [url, body] of tries) {
      const sent = { method: 'POST', url, tenant_id, token: ada.token, headers: fromOwnPage }
      const reply = await house.call({ ...sent, ...(body !== undefined && { body }) })
      assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'], `${url} ${reply.text}`)
      assert.match(String(reply.body.message), /person of the rehearsal/, url)
      assert.equal(reply.headers['set-cookie'], undefined)
    }
  })

  test('gives no more than requesting and deciding, whatever roles the person is given', async () => {
    const stage = await rehearsalStage(house, 'more')
    const { call, owner, idOf } = stage
    const group = await call(owner, 'POST', '/v1/groups', { name: 'admins' })
    await call(owner, 'PUT', `/v1/groups/${group.body.id}/role-mappings`, { role_ids: ['admin'] })
    await call(owner, 'POST', `/v1/groups/${group.body.id}/members`, { user_id: idOf('ada') })
    await call(owner, 'PUT', `/v1/users/${idOf('ada')}/roles`, { roles: ['admin'] })
    const ada = await stage.become('ada')
    const me = await call(ada, 'GET', '/v1/users/me')
    assert.deepEqual(me.body.scopes, ['grants:read', 'requests:approve', 'requests:create', 'requests:read'])
    const tries: [string, string, unknown][] = [
      ['POST', '/v1/users', sampleBodies.createUser],
      ['POST', '/v1/provisioners', sampleBodies.createProvisioner],
      ['PUT', `/v1/users/${idOf('ben')}/roles`, { roles: ['admin'] }],
      ['POST', '/v1/tenant/go-live', { confirm: 'more' }],
    ]
    for (const [method, url, body] of tries) assert.equal((await call(ada, method, url, body)).status, 403, url)
  })

  test('ends when the tenant goes live, and none is given afterwards', async () => {
    const stage = await rehearsalStage(house, 'afterwards')
    const ada = await stage.become('ada')
    assert.equal((await stage.goLive()).status, 200)
    assert.equal((await stage.call(ada, 'GET', '/v1/users/me')).status, 401)
    assert.deepEqual((await stage.askToken(stage.idOf('ada'))).body.code, 'not_in_rehearsal')
    assert.deepEqual((await stage.askToken(stage.owner.user_id)).body.code, 'not_in_rehearsal')
  })
})

suite('a person of the rehearsal', () => {
  test('gets no way in from the database, whatever code asks for it', async () => {
    const stage = await rehearsalStage(house, 'last guard')
    const ada = stage.idOf('ada')
    const { tenant_id } = stage
    await stage.become('ada')
    const inserts: [RegExp, string][] = [
      [/no way to sign in/, `insert into user_password (tenant_id, user_id, hash) values ($1, $2, 'x')`],
      [
        /no way to sign in/,
        `insert into second_factor (tenant_id, id, user_id, kind, name) values ($1, $2, $2, 'totp', 'x')`,
      ],
      [
        /no way to sign in/,
        `insert into api_key (tenant_id, id, name, secret_hash, scopes, created_by) values ($1, $2, 'x', '', '{}', $2)`,
      ],
      [/no way to sign in/, `update user_session set cookie_hash = sha256('x') where tenant_id = $1 and user_id = $2`],
      [/no way to sign in/, `update user_session set family_hash = sha256('x') where tenant_id = $1 and user_id = $2`],
      [/tenant_user_rehearsal_ck/, 'update tenant_user set is_owner = true where tenant_id = $1 and id = $2'],
      [/tenant_user_rehearsal_ck/, `update tenant_user set auth_provider = 'oidc' where tenant_id = $1 and id = $2`],
      [/tenant_user_rehearsal_ck/, `update tenant_user set email_key = 'a@b.example' where tenant_id = $1 and id = $2`],
      [/never changes/, 'update tenant_user set rehearsal = null where tenant_id = $1 and id = $2'],
    ]
    for (const [why, text] of inserts) await assert.rejects(house.asSuperuser(text, [tenant_id, ada]), why, text)
  })

  test('cannot sign in, with any password, and is invited by no link', async () => {
    const stage = await rehearsalStage(house, 'sign-in')
    const body = { email: 'ada@rehearsal.invalid', password: '' }
    const url = '/v1/auth/login'
    const login = await house.call({ method: 'POST', url, tenant_id: stage.tenant_id, body })
    assert.deepEqual([login.status, login.body.code], [401, 'unauthenticated'])
    const invited = await stage.call(stage.owner, 'POST', `/v1/users/${stage.idOf('ada')}/invitations`)
    assert.deepEqual([invited.status, invited.body.code], [403, 'forbidden'])
  })
})

suite('while a tenant goes live', () => {
  test('a token is either ended with the others, or not given', async () => {
    for (let round = 0; round < 10; round += 1) {
      const stage = await rehearsalStage(house, `token ${round}`)
      const asking = Array.from({ length: 4 }, () => stage.askToken(stage.idOf(round % 2 === 0 ? 'ada' : 'ben')))
      const [replies] = await Promise.all([Promise.all(asking), setLive(house.database, stage.tenant_id, goLive)])
      assert.deepEqual(await stage.left(), nothingLeft)
      for (const { status, body } of replies) {
        assert.ok([201, 404, 409].includes(status), String(status))
        if (status !== 201) continue
        const me = await stage.call({ token: String(body.token) }, 'GET', '/v1/users/me')
        assert.equal(me.status, 401)
      }
    }
  })

  test('a request and an approval of its people is either ended with the others, or refused', async () => {
    for (let round = 0; round < 10; round += 1) {
      const stage = await rehearsalStage(house, `request ${round}`)
      const [ada, ben] = [await stage.become('ada'), await stage.become('ben')]
      const waiting = await stage.request(ada, stage.accountOf('production'))
      const calls = [
        stage.request(ada, stage.accountOf('production')),
        stage.request(ada, stage.accountOf('staging')),
        stage.request(ben, stage.accountOf('sandbox')),
        stage.call(ben, 'POST', `/v1/requests/${waiting.body.id}/approve`, {}),
      ]
      const [replies] = await Promise.all([Promise.all(calls), setLive(house.database, stage.tenant_id, goLive)])
      for (const { status, text } of replies) assert.ok(status < 500, text)
      const open = await stage.rows(
        `select id from access_request where tenant_id = $1 and status = 'pending'
          union all select id from access_grant where tenant_id = $1 and status in ('pending', 'active')`,
      )
      assert.deepEqual(open, [])
      assert.deepEqual(await stage.left(), nothingLeft)
    }
  })

  test('the rehearsal is created before, and removed with it, or refused', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { tenant_id, owner } = await house.tenant(`created ${round}`)
      const url = '/v1/rehearsal'
      const [reply] = await Promise.all([
        house.call({ method: 'POST', url, tenant_id, token: owner.token, body: {} }),
        setLive(house.database, tenant_id, goLive),
      ])
      assert.ok([200, 409].includes(reply.status), reply.text)
      const people = 'select id from tenant_user where tenant_id = $1 and rehearsal is not null and deleted_at is null'
      assert.deepEqual(await house.asSuperuser(people, [tenant_id]), [])
    }
  })
})
