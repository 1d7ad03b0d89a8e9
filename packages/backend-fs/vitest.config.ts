import { project } from '../../vitest.shared.ts';

export default project('backend-fs', import.meta.url);
