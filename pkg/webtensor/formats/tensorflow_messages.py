"""TensorFlow's messages: graphs, SavedModels and checkpoints, as tables for ``protobuf``.

Rows that loading a model does not need are left out, such as debugging information; readers skip
them. ``resource_id`` is no field of TensorFlow's: TensorFlow.js adds it to signatures in JSON.
"""

from __future__ import annotations

from webtensor.formats.protobuf import Schema

__all__ = ["DTYPES", "SCHEMA", "dtype_name"]

#: The names of dtypes in the order of their numbers, which begin at 1.
_DATA_TYPES = (
    "FLOAT",
    "DOUBLE",
    "INT32",
    "UINT8",
    "INT16",
    "INT8",
    "STRING",
    "COMPLEX64",
    "INT64",
    "BOOL",
    "QINT8",
    "QUINT8",
    "QINT32",
    "BFLOAT16",
    "QINT16",
    "QUINT16",
    "UINT16",
    "COMPLEX128",
    "HALF",
    "RESOURCE",
    "VARIANT",
    "UINT32",
    "UINT64",
    "FLOAT8_E5M2",
    "FLOAT8_E4M3FN",
    "FLOAT8_E4M3FNUZ",
    "FLOAT8_E4M3B11FNUZ",
    "FLOAT8_E5M2FNUZ",
    "INT4",
    "UINT4",
    "INT2",
    "UINT2",
    "FLOAT4_E2M1FN",
)
_NAMES = {"FLOAT": "float32", "DOUBLE": "float64", "HALF": "float16"}
#: References to variables, in old graphs, have the number of their dtype and this one.
_REFERENCE = 100

#: The names of dtypes by their number.
DTYPES = {number: _NAMES.get(name, name.lower()) for number, name in enumerate(_DATA_TYPES, 1)}
DTYPES |= {number + _REFERENCE: f"{name}_ref" for number, name in DTYPES.items()}

_NUMBERS = {f"DT_{name}": number for number, name in enumerate(_DATA_TYPES, 1)}
_NUMBERS |= {f"{name}_REF": number + _REFERENCE for name, number in _NUMBERS.items()}
_NUMBERS["DT_INVALID"] = 0


def dtype_name(number: int) -> str:
    """Return the name of a dtype, or "" if none is given.

    Raises:
        ValueError: there is no dtype of this number.
    """
    if number and number not in DTYPES:
        raise ValueError(f"there is no dtype of number {number}")
    return DTYPES.get(number, "")


SCHEMA = Schema(
    """
    GraphDef
        1  node                   NodeDef[]
        2  library                FunctionDefLibrary
        4  versions               VersionDef
    VersionDef
        1  producer               int32
        2  min_consumer           int32
        3  bad_consumers          int32[]
    NodeDef
        1  name                   string
        2  op                     string
        3  input                  string[]
        4  device                 string
        5  attr                   string:AttrValue
    AttrValue
        1  list                   ListValue         in value
        2  s                      bytes             in value
        3  i                      int64             in value
        4  f                      float             in value
        5  b                      bool              in value
        6  type                   DataType          in value
        7  shape                  TensorShapeProto  in value
        8  tensor                 TensorProto       in value
        9  placeholder            string            in value
        10 func                   NameAttrList      in value
    ListValue
        2  s                      bytes[]
        3  i                      int64[]
        4  f                      float[]
        5  b                      bool[]
        6  type                   DataType[]
        7  shape                  TensorShapeProto[]
        8  tensor                 TensorProto[]
        9  func                   NameAttrList[]
    NameAttrList
        1  name                   string
        2  attr                   string:AttrValue
    TensorShapeProto
        2  dim                    Dim[]
        3  unknown_rank           bool
    Dim
        1  size                   int64
        2  name                   string
    TensorProto
        1  dtype                  DataType
        2  tensor_shape           TensorShapeProto
        3  version_number         int32
        4  tensor_content         bytes
        5  float_val              float[]
        6  double_val             double[]
        7  int_val                int32[]
        8  string_val             bytes[]
        9  scomplex_val           float[]
        10 int64_val              int64[]
        11 bool_val               bool[]
        12 dcomplex_val           double[]
        13 half_val               int32[]
        16 uint32_val             uint32[]
        17 uint64_val             uint64[]
        18 float8_val             bytes

    FunctionDefLibrary
        1  function               FunctionDef[]
        2  gradient               GradientDef[]
    GradientDef
        1  function_name          string
        2  gradient_func          string
    FunctionDef
        1  signature              OpDef
        3  node_def               NodeDef[]
        4  ret                    string:string
        5  attr                   string:AttrValue
        6  control_ret            string:string
        7  arg_attr               uint32:ArgAttrs
    ArgAttrs
        1  attr                   string:AttrValue
    OpDef
        1  name                   string
        2  input_arg              ArgDef[]
        3  output_arg             ArgDef[]
        17 is_stateful            bool
        20 control_output         string[]
    ArgDef
        1  name                   string
        3  type                   DataType
        4  type_attr              string
        5  number_attr            string
        6  type_list_attr         string

    SavedModel
        1  saved_model_schema_version int64
        2  meta_graphs            MetaGraphDef[]
    MetaGraphDef
        1  meta_info_def          MetaInfoDef
        2  graph_def              GraphDef
        3  saver_def              SaverDef
        4  collection_def         string:CollectionDef
        5  signature_def          string:SignatureDef
        6  asset_file_def         AssetFileDef[]
        7  object_graph_def       SavedObjectGraph
    MetaInfoDef
        4  tags                   string[]
        5  tensorflow_version     string
    SaverDef
        1  filename_tensor_name   string
        2  save_tensor_name       string
        3  restore_op_name        string
    CollectionDef
        1  node_list              NodeList   in kind
        2  bytes_list             BytesList  in kind
        5  any_list               AnyList    in kind
    NodeList
        1  value                  string[]
    BytesList
        1  value                  bytes[]
    AnyList
        1  value                  Any[]
    Any
        1  type_url               string
        2  value                  bytes
    SignatureDef
        1  inputs                 string:TensorInfo
        2  outputs                string:TensorInfo
        3  method_name            string
    TensorInfo
        1  name                   string           in encoding
        4  coo_sparse             CooSparse        in encoding
        5  composite_tensor       CompositeTensor  in encoding
        2  dtype                  DataType
        3  tensor_shape           TensorShapeProto
        1000 resource_id          int64            in resource
    CooSparse
        1  values_tensor_name     string
        2  indices_tensor_name    string
        3  dense_shape_tensor_name string
    CompositeTensor
        2  components             TensorInfo[]
    AssetFileDef
        1  tensor_info            TensorInfo
        2  filename               string

    SavedObjectGraph
        1  nodes                  SavedObject[]
        2  concrete_functions     string:SavedConcreteFunction
    SavedObject
        1  children               ObjectReference[]
        4  user_object            SavedUserObject            in kind
        5  asset                  SavedAsset                 in kind
        6  function               SavedFunction              in kind
        7  variable               SavedVariable              in kind
        8  bare_concrete_function SavedBareConcreteFunction  in kind
        9  constant               SavedConstant              in kind
        10 resource               SavedResource              in kind
        12 captured_tensor        CapturedTensor             in kind
    ObjectReference
        1  node_id                int32
        2  local_name             string
    SavedUserObject
        1  identifier             string
    SavedAsset
        1  asset_file_def_index   int32
    SavedFunction
        1  concrete_functions     string[]
    SavedVariable
        1  dtype                  DataType
        2  shape                  TensorShapeProto
        3  trainable              bool
        6  name                   string
    SavedBareConcreteFunction
        1  concrete_function_name string
        2  argument_keywords      string[]
    SavedConstant
        1  operation              string
    SavedResource
        1  device                 string
    CapturedTensor
        1  name                   string
        2  concrete_function      string
    SavedConcreteFunction
        2  bound_inputs           int32[]

    BundleHeaderProto
        1  num_shards             int32
        2  endianness             int32
    BundleEntryProto
        1  dtype                  DataType
        2  shape                  TensorShapeProto
        3  shard_id               int32
        4  offset                 int64
        5  size                   int64
        6  crc32c                 fixed32
        7  slices                 TensorSliceProto[]
    TensorSliceProto
        1  extent                 Extent[]
    Extent
        1  start                  int64
        2  length                 int64  in has_length
    TrackableObjectGraph
        1  nodes                  TrackableObject[]
    TrackableObject
        1  children               ObjectReference[]
        2  attributes             SerializedTensor[]
    SerializedTensor
        1  name                   string
        2  full_name              string
        3  checkpoint_key         string
    """,
    {"DataType": _NUMBERS},
)
