import type * as rds from '@aws-sdk/client-rds'
import type { Cloud, Database } from './cloud.ts'
import { page } from './pages.ts'
import { AwsError, type Call, type Handlers } from './wire.ts'

/** RDS, as each account has its own in each region. In XML, an entry of a list has a name. */
export const databaseHandlers = (cloud: Cloud) =>
  ({
    DescribeDBInstances: (input: rds.DescribeDBInstancesMessage, call: Call): object => {
      const { DBInstanceIdentifier: wanted, MaxRecords: MaxResults, Marker: NextToken } = input
      const listed = [...cloud.databases.values()].filter(
        ({ account, region, arn, name }) =>
          account === call.caller.account &&
          region === call.region &&
          (wanted === undefined || wanted === arn || wanted.toLowerCase() === name),
      )
      if (wanted !== undefined && listed.length === 0)
        throw new AwsError('DBInstanceNotFound', `DBInstance ${wanted} not found.`, { status: 404 })
      const asked = { ...call, input: { wanted, MaxResults, NextToken } }
      const { items, NextToken: Marker } = page(asked, listed, Math.min(cloud.settings.page, 100))
      return { DBInstances: { DBInstance: items.map(shown) }, Marker }
    },
  }) as const satisfies Handlers

const shown = ({ arn, name, engine, host, port, resource_id, tags }: Database): object => ({
  DBInstanceIdentifier: name,
  DBInstanceArn: arn,
  DBInstanceStatus: host === null ? 'creating' : 'available',
  DbiResourceId: resource_id,
  Engine: engine,
  Endpoint: host === null ? undefined : { Address: host, Port: port, HostedZoneId: 'Z000000000000' },
  TagList: { Tag: [...tags].map(([Key, Value]) => ({ Key, Value })) },
})
