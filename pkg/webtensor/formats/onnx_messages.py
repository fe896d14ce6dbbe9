"""ONNX's messages, as a table for ``protobuf``; rows that loading does not need are left out."""

from __future__ import annotations

from typing import NamedTuple

from webtensor.formats.protobuf import Schema

__all__ = ["ATTRIBUTE_KINDS", "DATA_TYPES", "SCHEMA", "DataType"]


class DataType(NamedTuple):
    """A dtype of tensors.

    Attributes:
        name: the dtype.
        bits: bits per element in ``raw_data``; less than 8 are packed, the lowest bits first.
        field: the field with the elements of tensors that have no ``raw_data``.
        code: the type code of an array of what one number of that field stands for.
    """

    name: str
    bits: int
    field: str
    code: str


#: Dtypes by their number.
DATA_TYPES = {
    1: DataType("float32", 32, "float_data", "f"),
    2: DataType("uint8", 8, "int32_data", "B"),
    3: DataType("int8", 8, "int32_data", "b"),
    4: DataType("uint16", 16, "int32_data", "H"),
    5: DataType("int16", 16, "int32_data", "h"),
    6: DataType("int32", 32, "int32_data", "i"),
    7: DataType("int64", 64, "int64_data", "q"),
    8: DataType("string", 0, "string_data", ""),
    9: DataType("bool", 8, "int32_data", "B"),
    10: DataType("float16", 16, "int32_data", "H"),
    11: DataType("float64", 64, "double_data", "d"),
    12: DataType("uint32", 32, "uint64_data", "I"),
    13: DataType("uint64", 64, "uint64_data", "Q"),
    14: DataType("complex64", 64, "float_data", "f"),
    15: DataType("complex128", 128, "double_data", "d"),
    16: DataType("bfloat16", 16, "int32_data", "H"),
    17: DataType("float8_e4m3fn", 8, "int32_data", "B"),
    18: DataType("float8_e4m3fnuz", 8, "int32_data", "B"),
    19: DataType("float8_e5m2", 8, "int32_data", "B"),
    20: DataType("float8_e5m2fnuz", 8, "int32_data", "B"),
    21: DataType("uint4", 4, "int32_data", "B"),
    22: DataType("int4", 4, "int32_data", "B"),
    23: DataType("float4_e2m1fn", 4, "int32_data", "B"),
    24: DataType("float8_e8m0fnu", 8, "int32_data", "B"),
    25: DataType("uint2", 2, "int32_data", "B"),
    26: DataType("int2", 2, "int32_data", "B"),
    27: DataType("float6_e2m3fn", 6, "int32_data", "B"),
    28: DataType("float6_e3m2fn", 6, "int32_data", "B"),
}

#: The field with the value of an attribute, by the number of its kind.
ATTRIBUTE_KINDS = {
    1: "f",
    2: "i",
    3: "s",
    4: "t",
    5: "g",
    6: "floats",
    7: "ints",
    8: "strings",
    9: "tensors",
    10: "graphs",
    11: "sparse_tensor",
    12: "sparse_tensors",
    13: "tp",
    14: "type_protos",
}

SCHEMA = Schema(
    """
    ModelProto
        1  ir_version           int64
        2  producer_name        string
        3  producer_version     string
        4  domain               string
        5  model_version        int64
        6  doc_string           string
        7  graph                GraphProto
        8  opset_import         OperatorSetIdProto[]
        14 metadata_props       StringStringEntryProto[]
        25 functions            FunctionProto[]
    OperatorSetIdProto
        1  domain               string
        2  version              int64
    StringStringEntryProto
        1  key                  string
        2  value                string
    GraphProto
        1  node                 NodeProto[]
        2  name                 string
        5  initializer          TensorProto[]
        11 input                ValueInfoProto[]
        12 output               ValueInfoProto[]
        13 value_info           ValueInfoProto[]
        14 quantization_annotation TensorAnnotation[]
        15 sparse_initializer   SparseTensorProto[]
    NodeProto
        1  input                string[]
        2  output               string[]
        3  name                 string
        4  op_type              string
        5  attribute            AttributeProto[]
        7  domain               string
        8  overload             string
    AttributeProto
        1  name                 string
        2  f                    float
        3  i                    int64
        4  s                    bytes
        5  t                    TensorProto
        6  g                    GraphProto
        7  floats               float[]
        8  ints                 int64[]
        9  strings              bytes[]
        10 tensors              TensorProto[]
        11 graphs               GraphProto[]
        14 tp                   TypeProto
        15 type_protos          TypeProto[]
        20 type                 int32
        21 ref_attr_name        string
        22 sparse_tensor        SparseTensorProto
        23 sparse_tensors       SparseTensorProto[]
    TensorProto
        1  dims                 int64[]
        2  data_type            int32
        3  segment              Segment
        4  float_data           float[]
        5  int32_data           int32[]
        6  string_data          bytes[]
        7  int64_data           int64[]
        8  name                 string
        9  raw_data             bytes
        10 double_data          double[]
        11 uint64_data          uint64[]
        13 external_data        StringStringEntryProto[]
        14 data_location        int32
    Segment
        1  begin                int64
        2  end                  int64
    SparseTensorProto
        1  values               TensorProto
        2  indices              TensorProto
        3  dims                 int64[]
    TensorAnnotation
        1  tensor_name          string
        2  quant_parameter_tensor_names StringStringEntryProto[]
    ValueInfoProto
        1  name                 string
        2  type                 TypeProto
    TypeProto
        1  tensor_type          Tensor        in value
        4  sequence_type        Sequence      in value
        5  map_type             Map           in value
        7  opaque_type          Opaque        in value
        8  sparse_tensor_type   SparseTensor  in value
        9  optional_type        Optional      in value
        6  denotation           string
    Tensor
        1  elem_type            int32
        2  shape                TensorShapeProto
    SparseTensor
        1  elem_type            int32
        2  shape                TensorShapeProto
    Sequence
        1  elem_type            TypeProto
    Optional
        1  elem_type            TypeProto
    Map
        1  key_type             int32
        2  value_type           TypeProto
    Opaque
        1  domain               string
        2  name                 string
    TensorShapeProto
        1  dim                  Dimension[]
    Dimension
        1  dim_value            int64   in value
        2  dim_param            string  in value
    FunctionProto
        1  name                 string
        4  input                string[]
        5  output               string[]
        6  attribute            string[]
        7  node                 NodeProto[]
        9  opset_import         OperatorSetIdProto[]
        10 domain               string
        11 attribute_proto      AttributeProto[]
        12 value_info           ValueInfoProto[]
        13 overload             string
    """
)
