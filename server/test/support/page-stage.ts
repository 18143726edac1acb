import assert from 'node:assert/strict'
import type { Environment } from '../../src/config/variables.ts'
import { publicUrl } from './browser.ts'
import type { Person } from './house.ts'
import { type Visitor, visitorOf } from './page-visitor.ts'
import { requestStage } from './request-stage.ts'
import { type Member, openFactorStage, password } from './second-factor-stage.ts'

/** The service at an https address, a tenant where a person decides each request, and people who sign in with a password. */
export async function openPageStage(env: Environment = {}) {
  const stage = await openFactorStage({ PUBLIC_URL: publicUrl, ...env })
  const { house } = stage
  const acme = await requestStage(house, 'Acme')
  await acme.rule('permit (principal, action, resource);')

  const named = async (roles: string[], name: string): Promise<Member> => {
    const member = await stage.member(acme, roles)
    await house.asSuperuser('update tenant_user set name = $2 where id = $1', [member.id, name])
    return member
  }
  const dana = await named(['user'], 'Dana Lee')
  const ben = await named(['approver'], 'Ben')
  const personOf = ({ id }: Member): Promise<Person> => house.person(acme.tenant_id, id)

  /** Signs in on the page of a record, in a new browser or in this one. */
  async function signedIn(member: Member, path: string, visitor = visitorOf(house)): Promise<Visitor> {
    const page = await visitor.open(`${path}?t=${member.tenant_id}`)
    assert.equal(page.status, 200, page.text)
    const done = await visitor.submit(page, { email: member.email, password, organization: '' })
    assert.equal(done.status, 303, done.text)
    return visitor
  }

  const requester = await personOf(dana)
  /** A new request of Dana's. */
  const ask = (more: object = {}, as = requester) =>
    acme.ask(acme.account('123456789012', { action: 'ReadOnlyAccess', duration_seconds: 3600, ...more }), as)

  return { ...stage, acme, dana, ben, named, personOf, signedIn, ask }
}
