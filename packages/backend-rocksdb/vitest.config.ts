import { project } from '../../vitest.shared.ts';

export default project('backend-rocksdb', import.meta.url);
