import { type ScimCtx, scimOperation } from '../http/scim-operation.ts'
import { ScimProblem } from '../http/scim-problem.ts'
import {
  type Attribute,
  enterpriseSchema,
  groupKind,
  groupSchema,
  type ResourceKind,
  userKind,
  userSchema,
} from './attribute.ts'
import { listResponse, pageSizes } from './list-request.ts'

/** What the service can do (RFC 7643, section 5). */
export const getServiceProviderConfig = scimOperation({
  method: 'GET',
  path: '/ServiceProviderConfig',
  run: async ({ base_url }) => ({
    status: 200,
    body: {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
      patch: { supported: true },
      bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
      filter: { supported: true, maxResults: pageSizes.max },
      changePassword: { supported: false },
      sort: { supported: true },
      etag: { supported: true },
      authenticationSchemes: [
        {
          type: 'oauthbearertoken',
          name: 'SCIM key',
          description: 'the key of the directory, as `Authorization: Bearer spscim_…`',
          primary: true,
        },
      ],
      meta: { resourceType: 'ServiceProviderConfig', location: `${base_url}/ServiceProviderConfig` },
    },
  }),
})

const kinds = { User: [userKind, '/Users'], Group: [groupKind, '/Groups'] } as const

function resourceType({ base_url }: ScimCtx, name: keyof typeof kinds) {
  const [{ schema, extension }, endpoint]: readonly [ResourceKind, string] = kinds[name]
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name,
    description: name === 'User' ? 'A person' : 'Who belongs together',
    endpoint,
    schema,
    ...(extension !== undefined && { schemaExtensions: [{ schema: extension.schema, required: false }] }),
    meta: { resourceType: 'ResourceType', location: `${base_url}/ResourceTypes/${name}` },
  }
}

export const listResourceTypes = scimOperation({
  method: 'GET',
  path: '/ResourceTypes',
  run: async (ctx) => listOf([resourceType(ctx, 'User'), resourceType(ctx, 'Group')]),
})

export const getResourceType = scimOperation({
  method: 'GET',
  path: '/ResourceTypes/{name}',
  async run(ctx, { params }) {
    const { name } = params
    if (name !== 'User' && name !== 'Group') throw new ScimProblem(404, 'there is no such type of resource')
    return { status: 200, body: resourceType(ctx, name) }
  },
})

/** The published schemas, by their URIs: of the attributes that are kept, and no others. */
const schemas = {
  [userSchema]: ['User', 'A person', userKind.attributes],
  [enterpriseSchema]: ['EnterpriseUser', 'A person in an organization', userKind.extension?.attributes ?? []],
  [groupSchema]: ['Group', 'Who belongs together', groupKind.attributes],
} as const satisfies Record<string, readonly [string, string, readonly Attribute[]]>

function publishedSchema({ base_url }: ScimCtx, id: keyof typeof schemas) {
  const [name, description, attributes]: readonly [string, string, readonly Attribute[]] = schemas[id]
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id,
    name,
    description,
    attributes: attributes.map(published),
    meta: { resourceType: 'Schema', location: `${base_url}/Schemas/${id}` },
  }
}

function published({ subAttributes, ...attribute }: Attribute): object {
  return {
    ...attribute,
    returned: 'default',
    ...(subAttributes.length > 0 && { subAttributes: subAttributes.map(published) }),
  }
}

const schemaIds = Object.keys(schemas) as (keyof typeof schemas)[]

export const listSchemas = scimOperation({
  method: 'GET',
  path: '/Schemas',
  run: async (ctx) => listOf(schemaIds.map((id) => publishedSchema(ctx, id))),
})

export const getSchema = scimOperation({
  method: 'GET',
  path: '/Schemas/{uri}',
  async run(ctx, { params }) {
    const id = schemaIds.find((one) => one === params.uri)
    if (id === undefined) throw new ScimProblem(404, 'there is no such schema')
    return { status: 200, body: publishedSchema(ctx, id) }
  },
})

const listOf = (resources: readonly object[]) =>
  ({ status: 200, body: listResponse({ total: resources.length, resources }, 1) }) as const
