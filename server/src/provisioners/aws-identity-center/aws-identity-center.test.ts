import { driverConformance } from '../../../test/conformance/driver-conformance.ts'
import { accountStage, bucketStage } from '../../../test/support/aws-stage.ts'
import { testDatabase } from '../../../test/support/database.ts'

const db = await testDatabase()
const [ofTheHouse, ofItsOwn] = [await accountStage(db), await bucketStage(db)]
driverConformance('AWS IAM Identity Center, with existing permission sets,', () => Promise.resolve(ofTheHouse))
driverConformance('AWS IAM Identity Center, with own permission sets,', () => Promise.resolve(ofItsOwn))
