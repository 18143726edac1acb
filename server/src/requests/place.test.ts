import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namedAccounts, placesOf } from './place.ts'
import type { ResourceReference } from './request.ts'
import { maxPlaces } from './request.ts'

const database: ResourceReference = { type: 'cloud_db_instance', id: 'arn:aws:rds:eu-west-1:123456789012:db:orders' }
const set: ResourceReference = { type: 'cloud_permission_set', id: 'arn:aws:sso:::permissionSet/ssoins-1/ps-1' }
const unit: ResourceReference = { type: 'cloud_organizational_unit', id: 'ou-ab12-12345678' }
const bucket: ResourceReference = { type: 'cloud_storage_bucket', id: 'logs' }
const nowhere = { home: undefined, touched: [] }
const [one, two] = ['111111111111', '222222222222']

test('the ids of an account and a database give their account; a bucket’s account comes from the metadata', () => {
  assert.equal(namedAccounts({ type: 'cloud_account', id: one }, {}).home, one)
  assert.equal(namedAccounts(database, {}).home, '123456789012')
  assert.equal(namedAccounts(bucket, {}).home, undefined)
  assert.equal(namedAccounts(bucket, { account_id: one }).home, one)
})

test('metadata that contradicts the resource, or is not an account number, is refused', () => {
  assert.throws(() => namedAccounts(database, { account_id: one }), /contradicts the resource/)
  for (const account_id of ['1', 1, null, [one], `${one} `]) {
    assert.throws(() => namedAccounts(bucket, { account_id }), /12 digits/)
  }
})

test('a permission set is requested on the accounts that the metadata lists, each once', () => {
  assert.deepEqual(namedAccounts(set, { account_ids: [one, two] }).touched, [one, two])
  for (const account_ids of [
    undefined,
    [],
    [one, one],
    ['1'],
    one,
    Array.from({ length: maxPlaces + 1 }, (_, n) => String(n + 1e11)),
  ]) {
    assert.throws(() => namedAccounts(set, { account_ids }), /account_ids/)
  }
})

test('access is given on the resource itself, on each listed account, or on each account under the unit', () => {
  assert.deepEqual(placesOf(bucket, nowhere, []), [bucket])
  assert.deepEqual(placesOf(bucket, { home: one, touched: [] }, []), [{ ...bucket, account_id: one }])
  const onEach = [one, two].map((id) => ({ type: 'cloud_account', id, account_id: id, permission_set: set.id }))
  assert.deepEqual(placesOf(set, { home: undefined, touched: [one, two] }, []), onEach)
  assert.deepEqual(placesOf(unit, nowhere, [two]), [{ type: 'cloud_account', id: two, account_id: two }])
})

test('a unit without known accounts, or with too many, is refused, and the error says what to do', () => {
  assert.throws(() => placesOf(unit, nowhere, []), /PUT \/v1\/cloud\/accounts/)
  const many = Array.from({ length: maxPlaces + 1 }, () => one)
  assert.throws(() => placesOf(unit, nowhere, many), /smaller unit/)
})
