// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Test} from "forge-std/Test.sol";
import {WalletDeployment} from "../../src/lens/WalletDeployment.sol";
import {ContractWallet} from "../base/Wallets.sol";

/// @dev Deploys wallets, and remembers who asked for it.
contract Factory {
    address public caller;
    uint256 public calls;

    function deploy(bytes32 salt) external returns (address) {
        (caller, calls) = (msg.sender, calls + 1);
        return address(new ContractWallet{salt: salt}(address(this)));
    }

    function refuse() external pure {
        revert("not today");
    }

    /// @dev Deploys, and answers with so many bytes.
    function deployAndTalk(bytes32 salt, uint256 length) external returns (bytes memory) {
        new ContractWallet{salt: salt}(address(this));
        return new bytes(length);
    }

    function addressOf(bytes32 salt) external view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(ContractWallet).creationCode, abi.encode(address(this))));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }
}

contract WalletDeploymentTest is Test {
    Factory private factory;
    address private wallet;

    function setUp() public {
        factory = new Factory();
        wallet = factory.addressOf(0);
    }

    function test_deploysFromAnAddressOfItsOwn_andLeavesNoCode() public {
        address deployment = create(address(factory), abi.encodeCall(Factory.deploy, (0)), wallet);
        assertGt(wallet.code.length, 0);
        assertEq(factory.caller(), deployment);
        assertTrue(deployment != address(this));
        assertEq(deployment.code.length, 0);
    }

    function test_leavesAWalletAsItIs() public {
        factory.deploy(0);
        create(address(factory), abi.encodeCall(Factory.refuse, ()), wallet);
        create(address(factory), abi.encodeCall(Factory.deploy, (0)), wallet);
        assertEq(factory.calls(), 1);
    }

    function test_revertsWhenTheFactoryDoes() public {
        expectNotDeployed(address(factory), abi.encodeCall(Factory.refuse, ()));
    }

    function test_revertsWhenAnotherWalletIsDeployed() public {
        expectNotDeployed(address(factory), abi.encodeCall(Factory.deploy, (bytes32(uint256(1)))));
    }

    function test_revertsWhenTheFactoryIsNoContract() public {
        expectNotDeployed(address(0xdead), abi.encodeCall(Factory.deploy, (0)));
    }

    function test_copiesNoAnswer() public {
        (uint256 quiet, uint256 quietCall) = gasWithAnswerOf(1);
        (uint256 loud, uint256 loudCall) = gasWithAnswerOf(100_000);
        // What the factory takes for a long answer is its own; nothing is added to it.
        assertLt(loud - quiet, loudCall - quietCall + 10_000);
    }

    /// @return created Gas of a deployment whose factory answers with so many bytes
    /// @return called Gas of the same call by somebody who ignores the answer
    function gasWithAnswerOf(uint256 length) private returns (uint256 created, uint256 called) {
        (bytes32 one, bytes32 other) = (bytes32(length * 2), bytes32(length * 2 + 1));
        bytes memory data = abi.encodeCall(Factory.deployAndTalk, (one, length));
        address expected = factory.addressOf(one);
        uint256 before = gasleft();
        create(address(factory), data, expected);
        created = before - gasleft();
        data = abi.encodeCall(Factory.deployAndTalk, (other, length));
        address target = address(factory);
        before = gasleft();
        assembly ("memory-safe") {
            pop(call(gas(), target, 0, add(data, 0x20), mload(data), 0, 0))
        }
        called = before - gasleft();
    }

    function create(address target, bytes memory data, address expected) private returns (address) {
        return address(new WalletDeployment(target, data, expected));
    }

    function expectNotDeployed(address target, bytes memory data) private {
        vm.expectRevert(abi.encodeWithSelector(WalletDeployment.WalletNotDeployed.selector, wallet));
        create(target, data, wallet);
        assertEq(wallet.code.length, 0);
    }
}
