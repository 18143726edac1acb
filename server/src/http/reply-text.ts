import compile from 'fast-json-stringify'
import type { FastifySerializerCompiler } from 'fastify'

/**
 * Compiles the serializer of a reply when it is first needed. Compiling those of all operations takes a tenth of a second,
 * which a process that starts would spend before it answers anything.
 */
export const compileWhenNeeded: FastifySerializerCompiler<object> = ({ schema }) => {
  let serialize: ((body: unknown) => string) | undefined
  return (body) => {
    serialize ??= compile(schema)
    return serialize(body)
  }
}
