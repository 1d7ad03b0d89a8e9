/** Version of this copy of @weir/core, as `_metadata` records it. Equal to package.json's; a test keeps it so. */
export const WEIR_VERSION: string = '0.1.0';
