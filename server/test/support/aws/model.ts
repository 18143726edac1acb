import * as identitystore from '@aws-sdk/client-identitystore'
import * as organizations from '@aws-sdk/client-organizations'
import * as rds from '@aws-sdk/client-rds'
import * as ssm from '@aws-sdk/client-ssm'
import * as sso from '@aws-sdk/client-sso-admin'
import * as sts from '@aws-sdk/client-sts'
import { type Limit, limits } from './limits.ts'
import { AwsError, type Fields, type ServiceName, takesForms } from './wire.ts'

/** The operations and shapes in the vendor's own clients. */
const models: Readonly<Record<ServiceName, Readonly<Record<string, unknown>>>> = {
  sso,
  identitystore,
  organizations,
  ssm,
  rds,
  sts,
}

/** The error name with which each service rejects an input that its model does not allow. */
const namedByService: Readonly<Record<ServiceName, string>> = {
  sso: 'ValidationException',
  identitystore: 'ValidationException',
  organizations: 'InvalidInputException',
  ssm: 'ValidationException',
  rds: 'InvalidParameterValue',
  sts: 'ValidationError',
}

/** @throws AwsError the service's own name for an input that breaks its conditions */
export function refuse(service: ServiceName, message: string): never {
  throw new AwsError(namedByService[service], message)
}

export const noOperation = (service: ServiceName, operation: string): AwsError =>
  new AwsError(takesForms(service) ? 'InvalidAction' : 'UnknownOperationException', `no operation ${operation}`)

/**
 * Checks an input against the service's model: no unknown member, all required ones, their types, lengths and patterns.
 * @throws AwsError
 */
export function checkInput(service: ServiceName, operation: string, input: Fields): void {
  const schema = models[service][`${operation}$`]
  if (!Array.isArray(schema) || schema[0] !== operationShape) throw noOperation(service, operation)
  checkValue(service, resolve(schema[4]), input, '')
}

// A schema of the SDK is a number for a simple type, or a tuple: kind, namespace, name, traits, then its members.
const [listShape, structureShape, unionShape, operationShape] = [1, 3, 4, 9]
const [text, number, truth, listOf] = [0, 1, 2, 64]

function resolve(reference: unknown): unknown {
  if (typeof reference === 'function') return resolve((reference as () => unknown)())
  // A member with traits of its own.
  if (Array.isArray(reference) && reference.length === 2) return resolve(reference[0])
  // A simple type with traits: kind 0, and the type last.
  if (Array.isArray(reference) && reference[0] === 0) return reference[4]
  return reference
}

function checkValue(service: ServiceName, schema: unknown, value: unknown, at: string): void {
  if (Array.isArray(schema) && (schema[0] === structureShape || schema[0] === unionShape)) {
    checkStructure(service, schema, value, at)
  } else if (Array.isArray(schema) && schema[0] === listShape) {
    for (const [place, one] of listAt(value, at).entries())
      checkValue(service, resolve(schema[4]), one, `${at}.${place + 1}.member`)
  } else if (typeof schema === 'number' && (schema & listOf) !== 0) {
    for (const one of listAt(value, at)) checkSimple(schema & ~listOf, one, at)
  } else if (typeof schema === 'number') {
    checkSimple(schema, value, at)
  } else if (schema === 'unit') {
    if (Object.keys(value as object).length > 0) throw new AwsError('SerializationException', 'it takes no input')
  }
}

function checkStructure(service: ServiceName, schema: readonly unknown[], value: unknown, at: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new AwsError('SerializationException', `\`${at}\` is a structure`)
  const names = schema[4] as string[]
  const [members, required = 0] = [schema[5] as unknown[], schema[6] as number | undefined]
  const stranger = Object.keys(value).find((name) => !names.includes(name))
  if (stranger !== undefined) throw new AwsError('SerializationException', `there is no member \`${at}${stranger}\``)
  const given = value as Fields
  const missing = names.slice(0, required).find((name) => given[name] === undefined || given[name] === null)
  if (missing !== undefined) breaks(service, null, missing, 'Member must not be null')
  if (schema[0] === unionShape && Object.keys(value).length !== 1) refuse(service, `\`${at}\` holds one of its members`)
  for (const [place, name] of names.entries()) {
    if (given[name] === undefined) continue
    checkValue(service, resolve(members[place]), given[name], name)
    checkLimit(service, limits[service][name], given[name], name)
  }
}

function listAt(value: unknown, at: string): unknown[] {
  if (!Array.isArray(value)) throw new AwsError('SerializationException', `\`${at}\` is a list`)
  return value
}

const simple: Readonly<Record<number, string>> = { [text]: 'string', [number]: 'number', [truth]: 'boolean' }

function checkSimple(schema: number, value: unknown, at: string): void {
  const wanted = simple[schema]
  if (wanted !== undefined && typeof value !== wanted)
    throw new AwsError('SerializationException', `\`${at}\` is a ${wanted}`)
}

function checkLimit(service: ServiceName, limit: Limit | undefined, value: unknown, name: string): void {
  if (limit === undefined) return
  const { min = 0, max = Number.POSITIVE_INFINITY, form, values } = limit
  const size = typeof value === 'number' ? value : (value as string | unknown[]).length
  const what = typeof value === 'number' ? 'value' : 'length'
  if (size < min) breaks(service, value, name, `Member must have ${what} greater than or equal to ${min}`)
  if (size > max) breaks(service, value, name, `Member must have ${what} less than or equal to ${max}`)
  if (values?.includes(value as string) === false)
    breaks(service, value, name, `Member must satisfy enum value set: [${values.join(', ')}]`)
  if (form?.test(value as string) === false)
    breaks(service, value, name, `Member must satisfy regular expression pattern: ${form.source}`)
}

function breaks(service: ServiceName, value: unknown, name: string, constraint: string): never {
  const shown = value === null ? 'null' : `'${String(value)}'`
  refuse(
    service,
    `1 validation error detected: Value ${shown} at '${name}' failed to satisfy constraint: ${constraint}`,
  )
}
